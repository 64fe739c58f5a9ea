package fault

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/doorlab/doorlab/boardsim/link"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/wire"
)

// told records what the boards are notified of.
type told struct{ calls []string }

func (t *told) LineChanged(b string)      { t.calls = append(t.calls, "line "+b) }
func (t *told) Reboot(b string, w bool)   { t.calls = append(t.calls, fmt.Sprintf("reboot %s %v", b, w)) }
func (t *told) LoseClock(b string)        { t.calls = append(t.calls, "clock "+b) }
func (t *told) take() (calls []string)    { calls, t.calls = t.calls, nil; return calls }
func on(fault string, params ...any) Spec { return spec(fault, params...) }

// spec arms a fault on board a1; params alternate name and value.
func spec(fault string, params ...any) Spec {
	s := Spec{Fault: fault, Boards: []string{"a1"}}
	for i := 0; i+1 < len(params); i += 2 {
		if s.Params == nil {
			s.Params = map[string]any{}
		}
		s.Params[params[i].(string)] = params[i+1]
	}
	return s
}

// fleet has n boards in place A, one in B, and one in the test place T.
func fleet(n int) func() []Info {
	var out []Info
	for i := 1; i <= n; i++ {
		b := fmt.Sprintf("a%d", i)
		out = append(out, Info{ID: b, PlaceID: "A", DoorIDs: []string{b + "/1", b + "/2"}})
	}
	out = append(out, Info{ID: "b1", PlaceID: "B", DoorIDs: []string{"b1/1"}}, Info{ID: "t1", PlaceID: "T", Test: true})
	return func() []Info { return out }
}

func newSet(n int) (*Set, *told) {
	board := &told{}
	return New(Config{Seed: 7, Boards: fleet(n), Board: board}), board
}

func arm(t testing.TB, s *Set, spec Spec) string {
	t.Helper()
	id := must.Get(s.Arm(spec))(t)
	return id
}

var (
	done    = wire.Report{CommandID: "cmd_1", Epoch: 3, Result: vocab.OK}
	stalely = wire.Report{CommandID: "cmd_1", Epoch: 2, Result: vocab.OK}
)

var onCommands = []struct {
	name string
	arm  []Spec
	in   Incoming
	out  []any // messages; nil = only the report
	late time.Duration
	hits map[string]int64 // nil = one hit each
}{
	{name: "nothing"},
	{name: "noop", arm: []Spec{on("noop")}},
	{name: "refuse", arm: []Spec{on("refuse")}, in: Incoming{Refuse: "busy"}},
	{name: "refuse code", arm: []Spec{on("refuse", "code", "jammed")}, in: Incoming{Refuse: "jammed"}},
	{name: "silent", arm: []Spec{on("silent")}, in: Incoming{Lost: true}},
	{name: "silent-after", arm: []Spec{on("silent-after")}, out: []any{}},
	{name: "slow", arm: []Spec{on("slow", "p50Ms", 70, "p99Ms", 70)}, in: Incoming{Delay: 70 * time.Millisecond}},
	{name: "late", arm: []Spec{on("late", "p50Ms", 80, "p99Ms", 80)}, late: 80 * time.Millisecond},
	{name: "duplicate", arm: []Spec{on("duplicate")}, out: []any{done, done}},
	{name: "stale", arm: []Spec{on("stale")}, out: []any{stalely}},
	{name: "silent beats all", arm: []Spec{on("slow"), on("refuse"), on("late"), on("garbage"), on("silent-after"), on("silent")},
		in: Incoming{Lost: true}, hits: map[string]int64{"silent": 1}},
	{name: "refuse beats silent-after", arm: []Spec{on("silent-after"), on("refuse"), on("duplicate")},
		in: Incoming{Refuse: "busy"}, out: []any{refused(done), refused(done)}, hits: map[string]int64{"refuse": 1, "duplicate": 1}},
	{name: "silent-after reports nothing", arm: []Spec{on("late"), on("duplicate"), on("stale"), on("silent-after"), on("slow", "p50Ms", 5, "p99Ms", 5)},
		in: Incoming{Delay: 5 * time.Millisecond}, out: []any{}, hits: map[string]int64{"silent-after": 1, "slow": 1}},
	{name: "first refusal wins", arm: []Spec{on("refuse", "code", "tamper"), on("refuse")},
		in: Incoming{Refuse: "tamper"}, hits: map[string]int64{"refuse": 1}},
	{name: "delays add up", arm: []Spec{on("slow", "p50Ms", 1, "p99Ms", 1), on("slow", "p50Ms", 2, "p99Ms", 2)},
		in: Incoming{Delay: 3 * time.Millisecond}, hits: map[string]int64{"slow": 2}},
}

func TestCommandFaults(t *testing.T) {
	t.Parallel()
	for _, c := range onCommands {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, board := newSet(3)
			if c.hits == nil {
				c.hits = map[string]int64{}
				for _, a := range c.arm {
					c.hits[a.Fault] = 1
				}
			}
			for _, a := range c.arm {
				arm(t, s, a)
			}
			r := s.Command("a1", "a1/1", "open")
			if d := cmp.Diff(c.in, r.Incoming); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
			if !r.Lost {
				report := done
				if r.Refuse != "" {
					report = refused(done)
				}
				if c.out == nil {
					c.out = []any{report}
				}
				out := r.Outgoing(report)
				out.Reported()
				if d := cmp.Diff(c.out, out.Messages, cmpopts.EquateEmpty()); d != "" || out.Delay != c.late || out.Behind {
					t.Errorf("messages, -want +got:\n%s\n%s late, behind the next one: %v; want %s late and not behind", d, out.Delay, out.Behind, c.late)
				}
			}
			if d := cmp.Diff(c.hits, s.Hits()); d != "" {
				t.Errorf("hits, -want +got:\n%s", d)
			}
			if got := s.Command("a2", "a2/1", "open"); got.Incoming != (Incoming{}) || got.armed != nil {
				t.Errorf("another board: got %+v, want no effect", got)
			}
			if calls := board.take(); calls != nil {
				t.Errorf("the line was told %v, want none", calls)
			}
			s.Reset()
			if got := s.Command("a1", "a1/1", "open"); got.Incoming != (Incoming{}) || got.armed != nil {
				t.Errorf("after reset: got %+v, want no effect", got)
			}
		})
	}
}

func refused(r wire.Report) wire.Report {
	r.Result = vocab.Refused
	return r
}

// TestForgedReports: of the faults that replace a report, only one applies, in the order of the list.
func TestForgedReports(t *testing.T) {
	t.Parallel()
	report := wire.Report{CommandID: "cmd_1", Epoch: 3, Result: vocab.OK}
	for _, c := range []struct {
		arm  []string
		hits map[string]int64
	}{
		{[]string{"stale", "wrong-id", "garbage", "reorder"}, map[string]int64{"garbage": 1, "reorder": 1}},
		{[]string{"stale", "wrong-id"}, map[string]int64{"wrong-id": 1}},
		{[]string{"duplicate", "garbage"}, map[string]int64{"duplicate": 1, "garbage": 1}},
	} {
		s, _ := newSet(1)
		for _, f := range c.arm {
			arm(t, s, on(f))
		}
		out := s.Command("a1", "a1/1", "open").Outgoing(report)
		if got := s.Hits(); len(got) != 0 {
			t.Errorf("%v: hits before anything is sent: %v, want none", c.arm, got)
		}
		out.Reported()
		if d := cmp.Diff(c.hits, s.Hits()); d != "" {
			t.Errorf("%v: hits, -want +got:\n%s", c.arm, d)
		}
		for _, m := range out.Messages {
			switch m := m.(type) {
			case []byte:
				if len(m) != 24 || c.hits["garbage"] == 0 {
					t.Errorf("%v: %d bytes go up; want 24, and only with garbage", c.arm, len(m))
				}
			case wire.Report:
				if m.CommandID == report.CommandID || c.hits["wrong-id"] == 0 {
					t.Errorf("%v: %+v goes up; want another command id, and only with wrong-id", c.arm, m)
				}
			}
		}
		if out.True() || out.Behind != (c.hits["reorder"] > 0) {
			t.Errorf("%v: true report %v, behind the next one %v; want false and %v", c.arm, out.True(), out.Behind, c.hits["reorder"] > 0)
		}
	}
}

func TestLineFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		arm      []Spec
		want     Line
		up, down int64 // hits that a packet adds in each direction
		atOnce   int64
	}{
		{[]Spec{on("offline")}, Line{Offline: true}, 0, 0, 1},
		{[]Spec{on("halfopen")}, Line{State: link.State{HalfOpen: true}}, 1, 1, 0},
		{[]Spec{on("oneway-up")}, Line{State: link.State{OnewayUp: true}}, 1, 0, 0},
		{[]Spec{on("oneway-down")}, Line{State: link.State{OnewayDown: true}}, 0, 1, 0},
		{[]Spec{on("lossy")}, Line{State: link.State{Lossy: link.Lossy{Percent: 10}}}, 1, 1, 0},
		{[]Spec{on("lossy", "delayMs", 50)}, Line{State: link.State{Lossy: link.Lossy{DelayMs: 50}}}, 1, 1, 0},
		{[]Spec{on("lossy", "percent", 50.0, "duplicatePercent", 20, "delayMs", 5), on("lossy", "percent", 50, "delayMs", 6)},
			Line{State: link.State{Lossy: link.Lossy{Percent: 75, DuplicatePercent: 20, DelayMs: 11}}}, 2, 2, 0},
		{[]Spec{on("offline"), on("halfopen"), on("oneway-up")}, Line{Offline: true, State: link.State{HalfOpen: true, OnewayUp: true}}, 2, 1, 1},
		{[]Spec{on("halfopen"), on("lossy")}, Line{State: link.State{HalfOpen: true, Lossy: link.Lossy{Percent: 10}}}, 1, 1, 0}, // nothing is left to lose
		{[]Spec{on("oneway-up"), on("lossy")}, Line{State: link.State{OnewayUp: true, Lossy: link.Lossy{Percent: 10}}}, 1, 1, 0},
		{[]Spec{on("flap")}, Line{}, 0, 0, 0},
	} {
		t.Run(fmt.Sprintf("%+v", c.want), func(t *testing.T) {
			t.Parallel()
			s, board := newSet(3)
			for _, a := range c.arm {
				arm(t, s, a)
				if calls := board.take(); a.Fault != "flap" && !slices.Equal(calls, []string{"line a1"}) {
					t.Errorf("notified %v, want [line a1]", calls)
				}
			}
			if d := cmp.Diff(c.want, s.Line("a1")); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
			if got := s.Line("a2"); got != (Line{}) {
				t.Errorf("another line: got %+v, want %+v", got, (Line{}))
			}
			for _, h := range []struct {
				dir  link.Dir
				want int64
			}{{link.Up, c.atOnce + c.up}, {link.Down, c.atOnce + c.up + c.down}} {
				blind := c.want.HalfOpen || c.want.OnewayUp && h.dir == link.Up || c.want.OnewayDown && h.dir == link.Down
				s.LineHit("a1", h.dir, blind)
				s.LineHit("a2", h.dir, blind)
				var n int64
				for _, a := range s.List() {
					n += a.Hits
				}
				if n != h.want {
					t.Errorf("%d hits after %s, want %d", n, h.dir, h.want)
				}
			}
			if last := s.Reset(); len(last) != len(c.arm) || s.Line("a1") != (Line{}) {
				t.Errorf("after reset: %+v, removed %v; want a clean line and all %d removed", s.Line("a1"), last, len(c.arm))
			}
			if calls := board.take(); len(calls) != len(c.arm) {
				t.Errorf("notified of the end %v, want %d calls", calls, len(c.arm))
			}
		})
	}
}

func TestInstantFaults(t *testing.T) {
	t.Parallel()
	for fault, want := range map[string][]string{
		"reboot":       {"reboot a1 false", "reboot a2 false"},
		"reboot-wiped": {"reboot a1 true", "reboot a2 true"},
		"no-clock":     {"clock a1", "clock a2"},
	} {
		s, board := newSet(2)
		id := arm(t, s, Spec{Fault: fault, PlaceID: "A"})
		if d := cmp.Diff(want, board.take()); d != "" {
			t.Errorf("-want +got:\n%s", d)
		}
		if got := s.List(); len(got) != 0 || s.Hits()[fault] != 2 {
			t.Errorf("%s: still listed %v, hits %v; want none listed and 2 hits", fault, got, s.Hits())
		}
		if _, err := s.Remove(id); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s removed: got %v, want %v", fault, err, ErrNotFound)
		}
	}
}

func TestSkew(t *testing.T) {
	t.Parallel()
	v := clock.NewVirtual(time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), nil)
	v.Freeze()
	s := New(Config{Clock: v, Boards: fleet(1)})
	id := arm(t, s, on("skew", "seconds", -30))
	arm(t, s, on("skew", "ppm", 1000))
	must.OK(t, v.Advance(v.Now().Add(time.Hour)))
	arm(t, s, on("skew"))
	if off := s.Offset("a1", v.Now()); off != 273600*time.Millisecond {
		t.Errorf("off by %s, want %s", off, 273600*time.Millisecond)
	}
	must.Get(s.Remove(id))(t)
	if off := s.Offset("a1", v.Now()); off != 303600*time.Millisecond {
		t.Errorf("then by %s, want %s", off, 303600*time.Millisecond)
	}
	s.Reset()
	if off := s.Offset("a1", v.Now()); off != 0 || s.Offset("b1", v.Now()) != 0 {
		t.Errorf("off by %s at the end, want 0 on both boards", off)
	}
}
