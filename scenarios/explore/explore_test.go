package explore

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/report"
	"github.com/doorlab/doorlab/scenarios/engine"
)

// The same seed draws the same sequences, and each is a scenario that can be read.
func TestSequences(t *testing.T) {
	t.Parallel()
	played := map[string]int{}
	for i := range 400 {
		ops := sequence(7, i, 24)
		if again := sequence(7, i, 24); !reflect.DeepEqual(ops, again) {
			t.Fatalf("sequence %d: drawn twice, it differs", i)
		}
		if i < 40 { // reading is slow
			if _, err := engine.Parse("x.yaml", scenario("x", "y", ops)); err != nil {
				t.Fatalf("sequence %d: %v", i, err)
			}
		}
		m := begin()
		for _, o := range ops {
			before := len(m.steps)
			if play[o.Do](m, o); len(m.steps) > before {
				played[o.Do]++
			}
		}
		for _, s := range m.steps { // else the file couldn't be judged: it would claim what its own expectation leaves open
			text, same := flow(s.args), strings.Contains(strings.Join(s.expect, " "), "body ==")
			if len(s.clauses) > 0 && strings.Contains(text, "status: [") && !same {
				t.Fatalf("sequence %d: %s %s claims %v", i, s.verb, text, s.clauses)
			}
		}
	}
	for do := range play {
		if played[do] < 10 {
			t.Errorf("%s was played %d times in 400 sequences, want at least 10", do, played[do])
		}
	}
}

// A kill may come while a repeat's count is only in memory, and then the server may forget it. No sequence asks for it
// afterwards unless records were read in between.
func TestKillAfterARepeat(t *testing.T) {
	t.Parallel()
	open := Op{Do: "command", Name: "open", Nth: 1}
	for name, before := range map[string][]Op{"repeat": {open, {Do: "repeat", Nth: 1}}, "crash": {{Do: "crash", Nth: 5}}, "neither": {open}} {
		for _, kill := range []bool{true, false} {
			m, verbs := begin(), []string{}
			for _, o := range append(before, Op{Do: "restart", Flag: kill}, Op{Do: "restart", Flag: kill}) {
				play[o.Do](m, o)
			}
			for _, s := range m.steps {
				if s.verb == "records" || s.verb == "control" {
					verbs = append(verbs, s.verb)
				}
			}
			want := []string{"control", "control"}
			if kill && name != "neither" {
				want = append([]string{"records"}, want...)
			}
			if !slices.Equal(verbs, want) {
				t.Errorf("%s, then a restart (kill %v): %q, want %q", name, kill, verbs, want)
			}
		}
	}
}

// TestEndAtTheStart: a right that ends at the time 0 of a sequence has ended; it isn't one without an end.
func TestEndAtTheStart(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"permit", "reservation", "membership"} {
		m := begin()
		m.clockTo(minute)
		play[kind](m, Op{Do: kind, From: -hour, To: -minute, Door: 2})
		if len(m.grants) != 1 || m.grants[0].to != 0 || m.grants[0].valid(m.now) || m.grants[0].state(m.now) != "expired" {
			t.Errorf("%s: got %+v, want one that has expired", kind, m.grants)
		}
	}
}

// TestSlowDisk: something is written while the disk is slow, else the sequence couldn't be judged.
func TestSlowDisk(t *testing.T) {
	t.Parallel()
	m := begin()
	play["disk"](m, Op{Do: "disk", Flag: true})
	play["disk"](m, Op{Do: "disk", Flag: true})
	verbs := []string{}
	for _, s := range m.steps {
		verbs = append(verbs, s.verb)
	}
	if want := []string{"disk", "command", "disk"}; !slices.Equal(verbs, want) {
		t.Errorf("got steps %q, want %q", verbs, want)
	}
}

// Each operation that can be drawn can be played.
func TestDraws(t *testing.T) {
	t.Parallel()
	for _, d := range draws {
		if play[d.do] == nil {
			t.Errorf("%s can't be played", d.do)
		}
	}
}

// What is left of a failure is what it needs, and nothing of another failure.
func TestShrink(t *testing.T) {
	t.Parallel()
	ops := sequence(3, 1, 40)
	ops[5], ops[20] = Op{Do: "permit", Who: 2, Door: 3, Doors: 9, From: 1, To: day}, Op{Do: "revoke", Who: 3}
	s := &shrinker{ops: ops, why: "link x: it opened", over: func() bool { return false }, fails: func(c []Op) (string, bool) {
		p := slices.IndexFunc(c, func(o Op) bool { return o.Do == "permit" && o.Door == 3 })
		r := slices.IndexFunc(c, func(o Op) bool { return o.Do == "revoke" && o.Who == 3 })
		if p < 0 {
			return "records: another failure", true
		}
		return "link y: it opened", p < r
	}}
	s.run()
	if len(s.ops) != 2 || s.ops[0].Do != "permit" || s.ops[1].Do != "revoke" || s.ops[0].Doors != 0 || s.ops[0].Door != 3 {
		t.Errorf("%d operations are left, want the permit and the revocation: %+v", len(s.ops), s.ops)
	}
}

// target answers as a server would that fails whatever contains a word.
func target(word string, statuses ...judge.Status) (Play, *int) {
	n := 0
	return func(_ context.Context, f *engine.File, _ bool) (engine.Result, error) {
		n++
		r := engine.Result{Files: []report.FileResult{{Status: judge.Pass}}}
		if strings.Contains(string(f.Source), word) {
			r.Files[0].Status, r.Files[0].Reason = judge.Fail, "fault: wrong"
			if len(statuses) > 0 {
				r.Files[0].Status, statuses = statuses[0], statuses[1:]
			}
		}
		return r, nil
	}, &n
}

func TestRun(t *testing.T) {
	t.Parallel()
	play, _ := target("silent-after")
	var files []string
	s, err := Run(t.Context(), Config{Seed: 1, Sequences: 60, Parallel: 1, Play: play, Failed: func(f Failure) error {
		files = append(files, string(f.File))
		return nil
	}})
	if err != nil || len(s.Failures) != 1 || len(files) != 1 {
		t.Fatalf("%v, %d failures, %d told; want one", err, len(s.Failures), len(files))
	}
	if f := s.Failures[0]; len(f.Ops) != 1 || f.Ops[0].Do != "fault" || !f.Shrunk || !strings.Contains(files[0], "silent-after") {
		t.Errorf("left: %+v, want the fault alone", f.Ops)
	}
}

// It begins no sequence after the operations that were asked for.
func TestRunOperations(t *testing.T) {
	t.Parallel()
	play, n := target("nothing of the kind")
	s, err := Run(t.Context(), Config{Seed: 1, Steps: 100, Parallel: 1, Play: play})
	if err != nil || s.Operations < 100 || s.Sequences != *n || *n > 5 {
		t.Errorf("%v, %d operations in %d sequences, want 100 in a few", err, s.Operations, *n)
	}
}

// What passes with the usual limits, or can't be judged, is no failure, and is counted.
func TestRunFlaky(t *testing.T) {
	t.Parallel()
	play, n := target("clock: run", judge.Fail, judge.Pass, judge.Fail, judge.Blocked)
	s, err := Run(t.Context(), Config{Seed: 1, Sequences: 2, Parallel: 1, Play: play})
	if err != nil || s.Flaky != 1 || s.Invalid != 1 || len(s.Failures) != 0 || *n != 4 {
		t.Errorf("%v, %+v after %d plays; want one flaky and one invalid after 4", err, s, *n)
	}
}

// Interrupted, it says what it found so far.
func TestRunInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	inner, _ := target("clock: run")
	play := func(c context.Context, f *engine.File, fast bool) (engine.Result, error) {
		cancel()
		return inner(c, f, fast)
	}
	told := 0
	s, err := Run(ctx, Config{Seed: 1, Sequences: 5, Parallel: 1, Play: play, Failed: func(Failure) error { told++; return nil }})
	if !errors.Is(err, context.Canceled) || told != 1 || len(s.Failures) != 1 || s.Failures[0].Shrunk {
		t.Errorf("%v, %d told, %+v; want one failure as it was drawn", err, told, s.Failures)
	}
}

// Interrupted while it tries again what couldn't be judged the first time, it reports no failure: nobody saw one.
func TestRunInterruptedOverABlockedOne(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	inner, n := target("clock: run", judge.Blocked)
	play := func(c context.Context, f *engine.File, fast bool) (engine.Result, error) {
		if !fast {
			cancel()
			return engine.Result{}, c.Err()
		}
		return inner(c, f, fast)
	}
	s, err := Run(ctx, Config{Seed: 1, Sequences: 5, Parallel: 1, Play: play, Failed: func(f Failure) error {
		t.Errorf("told of a failure: %s", f.Why)
		return nil
	}})
	if !errors.Is(err, context.Canceled) || len(s.Failures) != 0 || *n == 0 {
		t.Errorf("%v, %d failures after %d plays, want an interruption and none", err, len(s.Failures), *n)
	}
}

// The oracle of decisions by hand: who enters and why not.
func TestDecide(t *testing.T) {
	t.Parallel()
	c := content{hours: week7(weeks[0])}
	for i, g := range []grant{
		{kind: "permit", phone: 0, doors: []int{0}, from: 0, to: 10, revoked: -1},
		{kind: "membership", phone: 0, doors: []int{0, 1}, from: 5, to: far, revoked: -1},
		{kind: "permit", phone: 1, doors: []int{0}, from: 5, to: 9, revoked: -1},
		{kind: "permit", phone: 2, doors: []int{0}, from: 0, to: 9, revoked: 3},
	} {
		c.grants, c.of = append(c.grants, g), append(c.of, &grant{name: fmt.Sprint(i)})
	}
	c.windows = []window{{ref: "business_hours", mode: "free", door: 2}, {ref: "custom", mode: "closed", door: 2, from: 10 * hour, to: 11 * hour}, {ref: "always", mode: "closed", door: 3}}
	for _, x := range []struct {
		phone, door int
		now         int64
		over, dead  bool
		want        string
	}{
		{0, 0, 0, false, false, "opened phone"}, {0, 0, 10, false, false, "opened phone"}, {0, 1, 4, false, false, "door_out_of_scope"},
		{1, 0, 4, false, false, "not_started"}, {1, 0, 9, false, false, "expired"}, {2, 0, 4, false, false, "revoked"}, {3, 0, 4, false, false, "no_valid_grant"},
		{3, 2, 9 * hour, false, false, "opened free_window"}, {3, 2, 9*hour - 1, false, false, "no_valid_grant"}, {3, 2, 22 * hour, false, false, "no_valid_grant"},
		{0, 2, 10 * hour, false, false, "closed_window"}, {3, 2, 11 * hour, false, false, "opened free_window"}, {0, 3, 10, false, false, "closed_window"},
		{0, 0, 0, true, true, "outage_limit"}, {3, 2, 9 * hour, false, true, "link_invalid"},
	} {
		a := c.decide(x.phone, x.door, "phone", x.now, x.over, x.dead)
		got := a.reason
		if a.allow {
			got = "opened " + got
		}
		if got != x.want {
			t.Errorf("person %d at door %d at %d ms (over %v, dead %v): %s, want %s", x.phone, x.door, x.now, x.over, x.dead, got, x.want)
		}
	}
}

// The nights of clock changes by hand: what the wall shows, and when.
func TestZone(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		z         zone
		day, min  int
		want      int64
		sameAfter bool // a minute later the calendar shows the same day
	}{
		{0, 6, 150, 6*day + 150*minute, true}, {1, 6, 119, 6*day + 119*minute, true}, {1, 6, 150, 6*day + 150*minute, true}, {1, 6, 180, 6*day + 120*minute, true},
		{1, 6, 1440, 6*day + 23*hour, false}, {-1, 6, 150, 6*day + 150*minute, true}, {-1, 6, 180, 6*day + 4*hour, true}, {-1, 6, 1440, 6*day + 25*hour, false},
	} {
		got := x.z.at(x.day, x.min)
		if day := x.z.day(got + minute); got != x.want || (day == x.day) != x.sameAfter {
			t.Errorf("zone %d, day %d, minute %d: %d ms and day %d a minute later, want %d (same day %t)", x.z, x.day, x.min, got, day, x.want, x.sameAfter)
		}
	}
	c := content{hours: week7(weeks[0]), zone: 1}
	c.hours[5], c.hours[6] = weeks[3], weeks[2]
	for d, want := range map[int]string{5: "[20:00-24:00]", 6: "[]"} { // Sunday's own hours belong to the night before
		if got := fmt.Sprint(c.shown(d, 5)); got != want {
			t.Errorf("day %d shows %s, want %s", d, got, want)
		}
	}
	if got := fmt.Sprint(c.shown(6, 6)); got == "[]" {
		t.Error("a schedule that begins on Sunday shows nothing for it, want its own hours")
	}
	c.special = map[int]special{6: {closed: true}}
	if c.open(6*day) || !c.open(6*day-1) {
		t.Errorf("open at midnight %t, before it %t; want closed by the closure, and open", c.open(6*day), c.open(6*day-1))
	}
}

func TestFlow(t *testing.T) {
	t.Parallel()
	v := fields{"a", "off", "b", "x y", "c", list{1, true, nil, plain("door[0]")}, "d", "ann", "e", "12"}
	if got, want := flow(v), `{a: "off", b: "x y", c: [1, true, null, door[0]], d: ann, e: "12"}`; got != want {
		t.Errorf("flow: %s, want %s", got, want)
	}
	for ms, want := range map[int64]string{0: "start", -hour: "start-1h", 36*hour + 1: "start+36h1ms", 90*second + 5: "start+1m30s5ms"} {
		if got := moment(ms); got != want {
			t.Errorf("moment(%d): %s, want %s", ms, got, want)
		}
	}
}
