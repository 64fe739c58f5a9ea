package strictyaml

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/doorlab/doorlab/internal/must"
)

type sample struct {
	Name  string         `json:"name" jsonschema:"required"`
	Kind  string         `yaml:"kind" jsonschema:"enum=test,enum=live"`
	Wait  time.Duration  `json:"wait"`
	Pair  [2]string      `json:"pair"`
	Parts []part         `json:"parts"`
	Free  map[string]any `json:"free"`
	Ways  []string       `json:"ways" jsonschema:"enum=open,enum=hold"`
	At    time.Time      `json:"at"`
	Own   string         `yaml:"-" json:"own"`
}

type part struct {
	Size  int     `json:"size"`
	On    *bool   `json:"on"`
	Ratio float64 `json:"ratio"`
}

func TestDecode(t *testing.T) {
	t.Parallel()
	const source = `name: &n one
kind: live
wait: 1m30s
pair: ["09:00", "22:00"]
parts: [{size: 3, on: true}, {size: 0}]
free: {a: 1, b: 0.5, c: [x, null], d: {e: *n}, f: 10s, g: 010, h: 01012345670, i: 0, j: 0x10, k: -07}
`
	var got sample
	var key, value, around Pos
	must.OK(t, Decode("s.yaml", []byte(source), &got, nil, func(b *Binder) {
		key, value, around = b.KeyAt("wait"), b.ValueAt("wait"), b.KeyAt("parts[1].on")
	}))
	on := true
	want := sample{Name: "one", Kind: "live", Wait: 90 * time.Second, Pair: [2]string{"09:00", "22:00"},
		Parts: []part{{Size: 3, On: &on}, {}},
		Free:  map[string]any{"a": int64(1), "b": 0.5, "c": []any{"x", nil}, "d": map[string]any{"e": "one"}, "f": "10s", "g": "010", "h": "01012345670", "i": int64(0), "j": int64(16), "k": "-07"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	if key != (Pos{3, 1}) || value != (Pos{3, 7}) || around != (Pos{5, 30}) {
		t.Errorf("positions: key %v, value %v, around %v; want {3 1} {3 7} {5 30}", key, value, around)
	}
}

// TestProblems: all at once, in the order of the file, each with its position and the nearest valid name.
func TestProblems(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"nmae: x\nkind: toy\nwait: long\npair: [a]\nparts: [{size: many, on: perhaps}]\nown: x\n": `s.yaml:1:1: unknown key "nmae", did you mean "name"?
s.yaml:1:1: "name" is missing
s.yaml:2:7: "toy" is not a valid kind, valid: test live
s.yaml:3:7: "long" is not a valid duration, write it like 80ms, 20s or 1m30s
s.yaml:4:7: expected a list of 2, found one of 1
s.yaml:5:16: expected a whole number, found "many"
s.yaml:5:26: expected true or false, found "perhaps"
s.yaml:6:1: unknown key "own", valid: at free kind name pair parts wait ways`,
		"name: a\nparts: [{ratio: NaN}, {ratio: .inf}]": `s.yaml:2:17: expected a number, found "NaN"
s.yaml:2:31: expected a number, found ".inf"`,
		"name: a\nname: b\n":          `s.yaml:2:1: "name" is given twice`,
		"name: a\nfree: {x: 1, x: 2}": `s.yaml:2:14: "x" is given twice`,
		"name: a\nways: [open, hodl]": `s.yaml:2:14: "hodl" is not valid for ways, did you mean "hold"?`,
		"name: a\nways: &w [hodl]":    `s.yaml:2:11: "hodl" is not valid for ways, did you mean "hold"?`,
		"name: a\nfree: {x: &w [open, &h hodl, *h]}\nways: *w": `s.yaml:2:24: "hodl" is not valid for ways, did you mean "hold"?
s.yaml:2:24: "hodl" is not valid for ways, did you mean "hold"?`,
		"name: a\nkind: !!str &k toy":  `s.yaml:2:15: "toy" is not a valid kind, valid: test live`,
		"name: a\nat: 2026-10-01":      `s.yaml:2:5: "2026-10-01" is not a time, write it like 2026-11-22T09:00:00Z`,
		"name: [a":                     "s.yaml:1:7: the closing ] is missing",
		"name: *nowhere":               "s.yaml:1:7: no anchor &nowhere before this\ns.yaml:1:7: expected text, found nothing",
		"name: a\n---\nname: b":        "s.yaml:3:1: only one document per file",
		"name: a\nfree: &p {a: *p}":    "s.yaml:2:14: *p is inside &p",
		"name: a\nways: &w [open, *w]": "s.yaml:2:17: *w is inside &w\ns.yaml:2:17: expected text, found nothing",
		"parts:\n\t- size: 1":          "s.yaml:2:1: tabs aren't allowed here: indent with spaces",
		"# only a comment":             "s.yaml:1:1: the file is empty",
		"":                             "s.yaml:1:1: the file is empty",
		"- a":                          "s.yaml:1:1: expected a mapping such as {name: ...}, found a list",
	} {
		var got sample
		err := Decode("s.yaml", []byte(source), &got, nil, nil)
		var ps Problems
		if !errors.As(err, &ps) {
			t.Errorf("%q: got %v, want problems", source, err)
			continue
		}
		if d := cmp.Diff(want, ps.Short()); d != "" {
			t.Errorf("%q: -want +got\n%s", source, d)
		}
	}
}

func TestCaret(t *testing.T) {
	t.Parallel()
	p := Problem{File: "a.yaml", Line: 2, Col: 4, Message: "wrong", Source: "\t- x"}
	if got, want := p.Error(), "a.yaml:2:4: wrong\n    \t- x\n    \t  ^"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestAliases: an alias stands for the last anchor of its name that is complete before it, wherever that is.
func TestAliases(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"name: &a x\nfree: {l: [*a, &a y, *a]}":                      "map[l:[x y y]]",
		"name: &a x\nfree: {l: [&b [*a], &a [*b], *b, *a]}":          "map[l:[[x] [[x]] [x] [[x]]]]",
		"name: x\nfree: {l: [&a [&a y, *a], *a]}":                    "map[l:[[y y] y]]",
		"name: x\nfree: {one: &a {k: v}, two: {three: *a, four: 4}}": "map[one:map[k:v] two:map[four:4 three:map[k:v]]]",
	} {
		var got sample
		if err := Decode("s.yaml", []byte(source), &got, nil, nil); err != nil || fmt.Sprint(got.Free) != want {
			t.Errorf("%q: got %v, %v; want %s", source, got.Free, err, want)
		}
	}
}

// TestNestedAliases: a few bytes can stand for any number of values; such a file is refused before they are made.
func TestNestedAliases(t *testing.T) {
	t.Parallel()
	source := "name: x\nfree:\n  a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i < 40; i++ {
		was := fmt.Sprintf("*a%d", i-1)
		source += fmt.Sprintf("  a%d: &a%d [%s]\n", i, i, strings.Join(slices.Repeat([]string{was}, 9), ", "))
	}
	const want = "s.yaml:9:12: the aliases up to this one repeat more than a million values"
	if err := Decode("s.yaml", []byte(source), &sample{}, nil, nil); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestDirective: %YAML and its like stand before the document and aren't one.
func TestDirective(t *testing.T) {
	t.Parallel()
	var got sample
	must.OK(t, Decode("s.yaml", []byte("%YAML 1.2\n---\nname: a\n"), &got, nil, nil))
	if got.Name != "a" {
		t.Errorf("got the name %q, want a", got.Name)
	}
	if err := Decode("s.yaml", []byte("%YAML 1.2\n---\n"), &got, nil, nil); err == nil || !strings.Contains(err.Error(), Empty) {
		t.Errorf("without a document: got %v, want %q", err, Empty)
	}
}
