package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/strictyaml"
	"github.com/doorlab/doorlab/scenarios/expression"
)

// compiled is an expression that isn't in a file.
func compiled(t *testing.T, src string) *Expr {
	t.Helper()
	return &Expr{Expr: *must.Get(expression.Compile(src))(t)}
}

func testScope(vars map[string]any) *scope {
	f := &fileRun{run: &run{seed: 7, dir: &directory{}}, file: &File{Path: "x/one.yaml"}}
	return &scope{file: f, vars: vars}
}

func TestExpressions(t *testing.T) {
	t.Parallel()
	sc := testScope(map[string]any{
		"count": 2, "last": map[string]any{"cause": "command"}, "one": map[string]any{"boards": []any{"a", "b"}, "count": 2},
		"sent": []any{1.0, 2.0}, "object": map[string]any{"n": 1.0, "in": map[string]any{"l": []any{2.0}}}, "status": 200, "data": nil, "boards": []any{map[string]any{"phase": "outage", "age": 3.0}, map[string]any{"phase": "online", "age": 0.0}},
	})
	for src, want := range map[string]string{
		`count == 2 && last.cause == "command"`:  "",
		`one.count == len(one.boards)`:           "",
		`count(boards, .phase == "outage") == 1`: "",
		`all(boards, .age >= 0)`:                 "",
		`status in [200, 201]`:                   "",
		`data?.outcome == nil`:                   "",
		`seconds("36h") == 129600`:               "",
		`phone("a") matches "^010[0-9]{8}$"`:     "",
		`label("2026-01-01T00:00:00Z") > 0`:      "",
		`count == 3`:                             "expected count == 3\nfound count = 2",
		`data.outcome == "reported"`:             "null has no field outcome",
		`count.most == 3`:                        "a number has no field most",
		`last contains "x"`:                      "an object can't be searched like text; write json(...) around it",
		`last matches "x"`:                       "an object can't be searched like text; write json(...) around it",
		`last.cause.of == "x"`:                   "text has no fields",
		`last.cause`:                             `"command", not true or false`,
		`sent == [1, 2]`:                         "",
		`sent != [1, 2]`:                         "expected sent != [1, 2]",
		`sent == [1, 2, 3]`:                      "expected sent == [1, 2, 3]",
		`sent == [2, 1]`:                         "expected sent == [2, 1]",
		`sent == {}`:                             "expected sent == {}",
		`object == {"n": 1, "in": {"l": [2]}}`:   "",
		`object != {"n": 1, "in": {"l": [2]}}`:   "expected object !=",
		`object == {"n": 1, "in": {"l": [3]}}`:   "expected object ==",
		`object == {"n": 1}`:                     "expected object ==",
		`object == {"m": 1, "in": {"l": [2]}}`:   "expected object ==",
		`object == {"n": 1, "in": nil}`:          "expected object ==",
		`object == fromPairs(toPairs(object))`:   "",
		`uid == "x"`:                             "expected uid",
		`count == 2.0 and not (count != 2.0)`:    "",
	} {
		err := compiled(t, src).unmet(sc)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", src, err, want)
		}
	}
}

func TestTemplates(t *testing.T) {
	t.Parallel()
	sc := testScope(map[string]any{"n": int64(3), "list": []any{"a"}, "m": map[string]any{"k": "}"}})
	for in, want := range map[string]any{
		"plain": "plain", "${n}": int64(3), "x${n}y${n + 1}": "x3y4", `${m["k"] + "}"}`: "}}", "${list}": []any{"a"}, "": "",
		"$${n}": "${n}", "a $${x} ${n}$${": "a ${x} 3${", "$$${n": "$${n", "$5": "$5",
	} {
		b := &strictyaml.Binder{}
		var text Text
		text.BindText(b, in, Pos{Line: 1, Col: 1})
		got, err := text.eval(sc)
		if err != nil || len(b.Problems()) > 0 || expression.Show(got) != expression.Show(want) {
			t.Errorf("%q: got %v (%v, %v), want %v", in, got, err, b.Problems(), want)
		}
	}
}

// TestOddValues: a function isn't a value, and what fromPairs makes is an object like any other.
func TestOddValues(t *testing.T) {
	t.Parallel()
	sc := testScope(map[string]any{"object": map[string]any{"a": 1.0}})
	if got, err := compiled(t, "uid").eval(sc); err == nil || err.Error() != `uid is a function: call it, as in uid("a")` {
		t.Errorf("got %v, %v, want an error that says how to call it", got, err)
	}
	got := must.Get(compiled(t, `fromPairs([["b", fromPairs([["c", 2]])], [3, 4]])`).eval(sc))(t)
	if raw := string(must.Get(json.Marshal(got))(t)); raw != `{"3":4,"b":{"c":2}}` {
		t.Errorf("got %s, want an object", raw)
	}
}

func TestMoments(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"cut+36h-1s": "cut 35h59m59s", "now": "now 0s", "+48h": "now 48h0m0s", "a - 500ms": "a -500ms", "cut+2d": "cut 48h0m0s",
		"2026-01-01T00:00:00Z": "2026-01-01T00:00:00Z 0s", "2026-01-01T09:00:00.5+09:00-1ms": "2026-01-01T09:00:00.5+09:00 -1ms",
		"2026-01-01T09:00:00-05:00+1h30m": "2026-01-01T09:00:00-05:00 1h30m0s", "2026-13-01T00:00:00Z+1h": "!", "36 hours": "!", "": "!", "cut+36": "!",
	} {
		label, d, err := splitMoment(in)
		got := label + " " + d.String()
		if err != nil {
			got = "!"
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// TestSpan: a permit from now to +720h lasts 30 days, although the clock runs while the step is read. 20,000 of them take
// long enough for the millisecond to change between two readings.
func TestSpan(t *testing.T) {
	t.Parallel()
	f := &fileRun{run: newRun(Target{}, Options{}), file: &File{Path: "one.yaml"}}
	x := &frame{file: f, run: f.run, scope: &scope{file: f, vars: map[string]any{}}}
	p := parse(t, `steps: [{permit: {person: ann, from: now, to: +720h}}]`).Doc.Steps[0].Permit
	for range 20000 {
		if from, to := x.span(p.From, p.To, "+72h"); to.Sub(from) != longest {
			t.Fatalf("it lasts %s, want %s", to.Sub(from), longest)
		}
	}
}

// A clock change is known where the zone has a rule instead of a list of changes: from 2028 in Go's embedded zones,
// the only ones in a container, and from 2038 on every machine.
func TestClockChange(t *testing.T) {
	t.Parallel()
	for now, want := range map[string]string{
		"2026-11-22": "forward 2027-03-28, back 2027-10-31", "2040-11-22": "forward 2041-03-31, back 2041-10-27",
		"2040-12-30": "forward 2041-03-31, back 2041-10-27", "2041-03-30": "forward 2042-03-30, back 2041-10-27",
	} {
		at, err := time.Parse(time.DateOnly, now)
		forward, err1 := clockChange(at, "Europe/Berlin", "forward")
		back, err2 := clockChange(at, "Europe/Berlin", "back")
		if got := fmt.Sprintf("forward %s, back %s", forward, back); got != want || errors.Join(err, err1, err2) != nil {
			t.Errorf("from %s: got %s (%v), want %s", now, got, errors.Join(err, err1, err2), want)
		}
	}
}

// TestHiddenMeanwhile: what an expectation found can be told while other steps add names. The race detector watches.
func TestHiddenMeanwhile(t *testing.T) {
	t.Parallel()
	f := &fileRun{run: newRun(Target{}, Options{}), file: &File{Path: "one.yaml"}}
	root := &scope{file: f, vars: map[string]any{}}
	e := parse(t, `steps: [{set: {a: 1}}, {expect: a == 2}]`).Doc.Steps[1].Expect[0]
	var wg sync.WaitGroup
	wg.Go(func() {
		for range 1000 {
			root.set("a", 1)
		}
	})
	wg.Go(func() {
		for range 1000 {
			if got := e.hidden(root); got != "" {
				t.Errorf("got %q, want nothing: there is no result", got)
			}
		}
	})
	wg.Wait()
}
