package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
)

// TestNoticeIsWhatIsLinked: the file in the binary names every module of this build.
func TestNoticeIsWhatIsLinked(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	want := must.Get(notice(root))(t)
	got := must.Get(os.ReadFile(filepath.Join(root, output)))(t)
	if !bytes.Equal(got, want) {
		t.Errorf("%s has %d bytes, what is linked asks for another %d; run 'make notice'", output, len(got), len(want))
	}
	for _, part := range []string{"github.com/mattn/go-sqlite3 v", "Go's runtime and standard library", "SQLite\n", "scalar\n", "github.com/eclipse/paho.mqtt.golang v"} {
		if !strings.Contains(string(want), "\n"+part) {
			t.Errorf("the notice doesn't name %q", part)
		}
	}
}

// TestLicences: what asks for more than a notice, or isn't known, fails.
func TestLicences(t *testing.T) {
	t.Parallel()
	mit := "Copyright X\n\nPermission is hereby granted, free of\ncharge, to any person"
	for name, c := range map[string]struct {
		texts      []string
		want, fail string
	}{
		"MIT, with line breaks":     {[]string{mit}, "MIT", ""},
		"a notice beside it":        {[]string{"This product includes", mit}, "MIT", ""},
		"two":                       {[]string{mit, "Apache License\nVersion 2.0"}, "MIT, Apache-2.0", ""},
		"EPL, which names the GPL":  {[]string{"Eclipse Public License - v 2.0 ... Secondary License means the GNU General Public License, Version 2.0"}, "EPL-2.0", ""},
		"GPL":                       {[]string{"GNU GENERAL PUBLIC LICENSE\nVersion 3"}, "", "more than a notice"},
		"AGPL beside MIT":           {[]string{mit, "GNU AFFERO GENERAL PUBLIC LICENSE"}, "", "more than a notice"},
		"a GPL header":              {[]string{"redistribute it under the terms of the GNU General Public License"}, "", "more than a notice"},
		"none":                      {nil, "", "no licence"},
		"a long text nobody knows":  {[]string{mit, strings.Repeat("you may use this on Sundays ", 100)}, "", "isn't known"},
		"a short text nobody knows": {[]string{"all rights reserved"}, "", "no licence"},
	} {
		p := part{Name: "x", texts: c.texts}
		err := p.name()
		if p.licence != c.want || (err == nil) != (c.fail == "") || err != nil && !strings.Contains(err.Error(), c.fail) {
			t.Errorf("%s: %q, %v; want %q, %q", name, p.licence, err, c.want, c.fail)
		}
	}
}
