package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
)

// TestOneRunPerDirectory: two runs don't write into one directory, and one that wrote nothing leaves nothing.
func TestOneRunPerDirectory(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	out := filepath.Join(root, "runs", "one")
	release := must.Get(hold(out, false))(t)
	if _, err := hold(out, false); err == nil || !strings.Contains(err.Error(), "another run is writing to "+out) {
		t.Errorf("a second run: got %v, want that another one is writing there", err)
	}
	release()
	if list := must.Get(os.ReadDir(root))(t); len(list) > 0 {
		t.Errorf("%s is left, want nothing", list[0].Name())
	}
	release = must.Get(hold(out, false))(t)
	must.OK(t, os.WriteFile(filepath.Join(out, "report.txt"), nil, 0o644))
	release()
	if list := must.Get(os.ReadDir(out))(t); len(list) != 1 || list[0].Name() != "report.txt" {
		t.Errorf("%v is left, want only the report", list)
	}
}

// TestForeignDirectories: a run replaces only what a run wrote.
func TestForeignDirectories(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files       []string
		check, load string // what would be replaced; "" = nothing
	}{
		"a project":       {[]string{"scenarios/mine.yaml", "go.mod"}, "scenarios", ""},
		"a settings file": {[]string{"config.json"}, "config.json", ""},
		"test results":    {[]string{"junit.xml"}, "junit.xml", "junit.xml"},
		"something else":  {[]string{"notes.txt", "src/main.go"}, "", ""},
		"a run":           {[]string{"scenarios/mine.yaml", "config.json", "verdicts.json", "junit.xml"}, "", ""},
		"a load":          {[]string{"result.json", "junit.xml"}, "", ""},
		"a killed run":    {[]string{"scenarios/mine.yaml", "config.json", ".running"}, "", ""},
	} {
		dir := t.TempDir()
		for _, f := range c.files {
			must.OK(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, f)), 0o755))
			must.OK(t, os.WriteFile(filepath.Join(dir, f), nil, 0o644))
		}
		for load, want := range map[bool]string{false: c.check, true: c.load} {
			err := free(dir, load)
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), "its "+want+" would be replaced") {
				t.Errorf("%s, for a load %t: got %v, want that %q would be replaced", name, load, err, want)
			}
		}
	}
}
