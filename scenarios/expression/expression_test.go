package expression

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/strictyaml"
)

// TestEval: values compare as in JSON, and errors are in the words of a scenario.
func TestEval(t *testing.T) {
	t.Parallel()
	env := map[string]any{"n": 2, "list": []any{1.0, 2.0}, "object": map[string]any{"n": 1.0}, "none": nil, "empty": []any{},
		"f": func(s string) string { return s }, "text": "abc"}
	for src, want := range map[string]any{
		`n == 2.0`:                         true,
		`list == [1, 2]`:                   true,
		`object == {"n": 1}`:               true,
		`fromPairs([[1, "a"]])`:            map[string]any{"1": "a"},
		`none == nil`:                      true,
		`none?.x ?? 5`:                     5,
		`none.x`:                           "none.x: null has no field x",
		`n.x`:                              "n.x: a number has no field x",
		`object contains "n"`:              `object contains "n": an object can't be searched like text; write json(...) around it`,
		`f(n)`:                             "f(n): a number can't be an argument here, only text",
		`1..text`:                          "1..text: text can't be the end of a range, only a whole number",
		`f`:                                `f is a function: call it, as in f("a")`,
		`none == object.m`:                 "none == object.m: both sides are missing",
		`all(empty, # > 1)`:                "all(empty, # > 1): the list is empty, so all(...) is true whatever happened; check its length first, as in len(x) > 0 and all(x, ...)",
		`len(empty) > 0 and all(empty, #)`: false,
	} {
		got, err := must.Get(Compile(src))(t).Eval(env)
		if err != nil {
			got = err.Error()
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, want %v", src, got, want)
		}
		if _, pointless := errors.AsType[*Pointless](err); pointless != (strings.Contains(src, "empty, # > 1") || strings.Contains(src, "none == object")) {
			t.Errorf("%s: the error is pointless: %t", src, pointless)
		}
	}
}

// TestBind: a mistake in the syntax is reported at its place, in the words of somebody who writes scenarios.
func TestBind(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		" status == 200 ":           "",
		"":                          "the expression is empty; write a condition, such as status == 200",
		"a = 1":                     `expression: unexpected "="; to compare, write ==`,
		"(a":                        "expression: it ends too early: unless it is in quotes, YAML ends it at a # after a space and, within { } or [ ], at a comma",
		`"a`:                        "expression: a closing quotation mark is missing",
		"a == 99999999999999999999": "expression: 99999999999999999999 is too large",
		"a > 1e999":                 "expression: 1e999 is too large",
	} {
		var e Expr
		b := &strictyaml.Binder{}
		got := ""
		if ok := e.Bind(b, src, Pos{Line: 3, Col: 5}); !ok {
			got = b.Problems()[0].Message
		}
		if got != want || e.Src != strings.TrimSpace(src) || e.Pos != (Pos{Line: 3, Col: 5}) {
			t.Errorf("%q: got %q, source %q at %v; want %q", src, got, e.Src, e.Pos, want)
		}
	}
}

// TestReads: names, paths and what is mentioned; what is written down as an argument.
func TestReads(t *testing.T) {
	t.Parallel()
	e := must.Get(Compile(`data.items[0].id == "x" and any(lines, .n > 3) and at("cut") != b?.c`))(t)
	for what, c := range map[string]struct{ got, want any }{
		"names": {keys(e.Names), "b data lines"},
		"paths": {strings.Join(e.Paths, " "), "data.items[0].id lines b?.c"},
		"mentions": {e.Mentions, Mentions{Values: []any{"items", 0.0, "id", "x", "n", 3.0, "cut", "c"}, Fields: []string{"items", "id", "n", "c"},
			Beside: map[string][]any{"id": {"x"}, "n": {3.0}, "c": {"cut"}}}},
		"beside":    {must.Get(Compile(`all(data.days, .a == .b and .c in ["x", 2] and 1 < .d.e)`))(t).Mentions.Beside, map[string][]any{"a": nil, "b": nil, "c": {"x", 2.0}, "e": {1.0}}},
		"outer":     {must.Get(Compile(`all(data.days, .by.at.zone == "x" and .note?.type != nil)`))(t).Mentions.Outer, []string{"by", "at", "note"}},
		"calls":     {e.Calls()[0].Name + " " + e.Calls()[0].Args[0].Text, "at cut"},
		"a path":    {PathOf("data.items[0].id"), []any{"data", "items", 0, "id"}},
		"no path":   {PathOf("1 + 1"), []any(nil)},
		"a literal": {must.Get(Compile("true"))(t).Literal(), true},
		"lacks":     {e.Lacks(map[string]any{"data": map[string]any{}, "lines": nil}), "data.items[0].id"},
		"optional":  {must.Get(Compile("b?.c == nil"))(t).Lacks(map[string]any{"b": nil}), ""},
		"absent":    {must.Get(Compile("x or b.c"))(t).Absent(map[string]any{"x": 1, "b": map[string]any{}}), "b.c"},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s: got %#v, want %#v", what, c.got, c.want)
		}
	}
}

// TestLacks: the right side of "and" is read only if the left side holds, wherever the "and" stands.
func TestLacks(t *testing.T) {
	t.Parallel()
	env := map[string]any{"count": 0, "status": 504, "data": map[string]any{}}
	for src, want := range map[string]string{
		`count == 1 and first.result == "opened" or count == 0`:            "",
		`not (count > 0 and last.cause == "onsite")`:                       "",
		`status == 200 and data.outcome == "reported" or status == 504`:    "",
		`count > 0 and status == 504 and first.result == "opened"`:         "",
		`count > 0 and first.result == "opened"`:                           "", // asked where never waits for it
		`(status == 504 and data.nope != "x") == true`:                     "data.nope",
		`status == 504 and data.nope != "x" or count == 0`:                 "data.nope",
		`count == 0 and (status == 504 and data.nope != "x")`:              "data.nope",
		`not (count == 0 and data.nope == "x")`:                            "data.nope",
		`data.nope != "x" and count == 0`:                                  "data.nope",
		`count == 0 and status != 504 and data.nope != "x" or count == 0`:  "",
		`not (count == 0 and status == 504 and data.nope == "x") or count`: "data.nope",

		`let s = data.nope; s != "x"`:                                        "data.nope",
		`let d = data; d.nope != "x"`:                                        "data.nope",
		`let d = data?.nope; d != "x"`:                                       "",
		`let status2 = 1; status == 504`:                                     "",
		`let n = count; n > 0 and first.result == "opened" or count == 0`:    "",
		`let n = count; n == 0 and data.nope != "x"`:                         "data.nope",
		`[data.nope] != ["x"]`:                                               "data.nope",
		`{"a": data.nope} != {"a": "x"}`:                                     "data.nope",
		`(count == 0 ? data.nope : "x") != "y"`:                              "data.nope",
		`(count > 0 ? first.result : "none") != "denied"`:                    "",
		`(count == 0 ? "none" : first.result) != "denied"`:                   "",
		`(count > 0 ? "none" : data.nope) != "y"`:                            "data.nope",
		`[first?.result] != ["x"]`:                                           "",
		`let o = [data?.nope ?? 5]; o != [4]`:                                "",
		`let first2 = first?.result; count == 0 or first.result == "opened"`: "",
	} {
		if got := must.Get(Compile(src))(t).Lacks(env); got != want {
			t.Errorf("%s: lacks %q, want %q", src, got, want)
		}
	}
}

func keys(m map[string]Pos) string {
	var out []string
	for _, n := range []string{"b", "data", "id", "items", "lines", "n"} {
		if _, ok := m[n]; ok {
			out = append(out, n)
		}
	}
	return strings.Join(out, " ")
}

// TestValues: numbers are read as people write them, and shown as templates need them.
func TestValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   any
		want float64
		ok   bool
	}{{1, 1, true}, {int64(2), 2, true}, {2.5, 2.5, true}, {"10%", 0.1, true}, {"3", 3, true}, {"x", 0, false}, {nil, 0, false}, {"NaN", 0, false}} {
		if got, err := Number(c.in); got != c.want || (err == nil) != c.ok {
			t.Errorf("%v as a number: got %v, %v; want %v, without an error: %t", c.in, got, err, c.want, c.ok)
		}
	}
	for want, in := range map[string]any{"": nil, "a": "a", "1000000": 1e6, "[1]": []any{1.0}, `{"a":1}`: map[string]any{"a": 1.0}, "true": true} {
		if got := Show(in); got != want {
			t.Errorf("%v: got %q, want %q", in, got, want)
		}
	}
}
