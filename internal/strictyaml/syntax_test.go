package strictyaml

import (
	"errors"
	"testing"
)

// TestSyntax: a file that isn't YAML is told in words that say what to do.
func TestSyntax(t *testing.T) {
	t.Parallel()
	const column = "this line fits nothing above it: items of a list, and keys of a mapping, begin in the same column"
	for source, want := range map[string]string{
		"name: a\nways:\n  - open\n - hold\n":      "s.yaml:4:2: " + column,
		"name: a\n wait: 1s\n":                     `s.yaml:1:7: a second ": " in one value: put quotes around text that contains it, and check the indentation of the next line`,
		"name: a: b\n":                             `s.yaml:1:7: a second ": " in one value: put quotes around text that contains it, and check the indentation of the next line`,
		"name: \"a\" b\n":                          "s.yaml:1:11: no value can stand here: put quotes around the whole text, or a colon after the key above",
		"name: \"a\n":                              `s.yaml:1:7: the closing " is missing`,
		"name: 'a\n":                               "s.yaml:1:7: the closing ' is missing",
		"free: {a: b\n":                            "s.yaml:1:7: the closing } is missing",
		"name: a\nfree: {a: b}}\n":                 "s.yaml:2:13: nothing is open that this } could close",
		"name: a\nways: [open]]\n":                 "s.yaml:2:13: nothing is open that this ] could close",
		"name: a\nfree: {a: b}, c: d\n":            "s.yaml:2:13: nothing can follow the closing } or ] on its line",
		"name: a\nfree: {a: b\nwait: 1s\n":         "s.yaml:3:1: a comma or the closing } is missing before this (between { and }, put quotes around text with brackets, braces or commas)",
		"name: @a\n":                               "s.yaml:1:7: text can't begin with @: put it in quotes",
		"name a\n":                                 "s.yaml:1:1: expected a mapping such as {name: ...}, found \"name a\"",
		"name a\nwait: 1s\n":                       `s.yaml:1:1: a colon is missing: write "key: value"`,
		"name: > b\n":                              "s.yaml:1:7: put quotes around text that begins with > or |",
		"name:a\n":                                 `s.yaml:1:1: expected a mapping such as {name: ...}, found "name:a": a space is missing after the colon`,
		"name: a\nparts:\n  - size: 1\n    - b: 2": "s.yaml:4:5: a list can't begin here: check the indentation",
	} {
		err := Decode("s.yaml", []byte(source), &sample{}, nil, nil)
		if ps, _ := errors.AsType[Problems](err); ps.Short() != want {
			t.Errorf("%q: got  %s\nwant %s", source, ps.Short(), want)
		}
	}
}
