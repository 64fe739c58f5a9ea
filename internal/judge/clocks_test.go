package judge

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

// apart is a history of one process as three would have recorded it: the clients are source 0, the server 1, the
// boards 2.
func apart(events []history.Event) []history.Event {
	out := slices.Clone(events)
	for i := range out {
		switch out[i].Kind {
		case history.Attempt, history.Answer, history.Call, history.Label, history.Begun:
		case history.Door, history.Actuation, history.Presented, history.Released, history.Netloss, history.Line, history.Fault, history.Dropped, history.Rebooted, history.Wiped:
			out[i].Src = 2
		default:
			out[i].Src = 1
		}
	}
	return out
}

// skewed shifts the stamps (and domain times that come from real clocks) of two sources, then merges the three
// histories as a run would that believed these clocks. errNs is how accurately they are known.
func skewed(events []history.Event, serverMs, boardsMs, errNs int64) []history.Event {
	of := make([][]history.Event, 3)
	for _, e := range apart(events) {
		move := []int64{0, serverMs, boardsMs}[e.Src]
		e.WallNs += move * 1e6
		e.At += []int64{0, 0, boardsMs - serverMs}[e.Src]
		if e.Src > 0 {
			e.ErrNs = errNs
		}
		e.Seq = 0
		of[e.Src] = append(of[e.Src], e)
	}
	return history.Merge(of...)
}

func statuses(events []history.Event) map[string]Status {
	out := map[string]Status{}
	for _, v := range Judge(NewView(events)) {
		out[v.Clause] = v.Status
	}
	return out
}

// A 200 that arrives 5 ms before its actuation is a breach if the clocks are known to ± 1 ms. If they may be 5 ms
// apart, it is only counted.
func TestEarlyAnswerOverTwoClocks(t *testing.T) {
	t.Parallel()
	early := func(errNs int64) ([]history.Event, string) {
		h := clean()
		id := commandOf(t, h, "k-open")
		answer := find(t, h.events, 0, is(history.Answer, id))
		h.edit(t, 0, is(history.Actuation, id), func(e *history.Event) { e.WallNs = h.events[answer].WallNs + 5e6 })
		return skewed(h.events, 0, 0, errNs), id
	}
	for _, c := range []struct {
		errNs int64 // of server and boards each
		want  Status
	}{{0, Fail}, {1e6, Fail}, {4e6, Fail}, {5e6, Pass}, {20e6, Pass}, {-1, Invalid}} {
		events, id := early(c.errNs)
		v := NewView(events)
		got := cmd1(v)
		got = v.clocks.allow(got)
		if got.Status != c.want {
			t.Errorf("± %d ns: CMD-1 %s, want %s: %s", c.errNs, got.Status, c.want, got.Number)
		}
		if c.want == Fail && !strings.Contains(got.Number, id+" reported before its actuation") {
			t.Errorf("± %d ns: %s, want that it was reported before its actuation", c.errNs, got.Number)
		}
		if n := v.Unordered(); n == 0 && c.want == Pass || n > 0 && c.errNs <= 0 {
			t.Errorf("± %d ns: %d pairs unordered, verdict %s", c.errNs, n, c.want)
		}
	}
}

// Within one process nothing is relaxed, whatever uncertainty the events carry.
func TestOneProcessHasNoUncertainty(t *testing.T) {
	t.Parallel()
	h := clean()
	id := commandOf(t, h, "k-open")
	answer := find(t, h.events, 0, is(history.Answer, id))
	h.edit(t, 0, is(history.Actuation, id), func(e *history.Event) { e.WallNs = h.events[answer].WallNs + 1 })
	for i := range h.events {
		h.events[i].Src, h.events[i].ErrNs = 1, 50e6
	}
	v := NewView(h.events)
	if got := cmd1(v); got.Status != Fail || v.Unordered() != 0 {
		t.Errorf("an actuation 1 ns after its 200: CMD-1 %s with %d pairs unordered, want FAIL and none", got.Status, v.Unordered())
	}
}

// Clocks that nobody measured decide nothing: guarantees that compare them neither pass nor fail, and guarantees that
// don't compare them are unaffected.
func TestUnmeasuredClocksDecideNothing(t *testing.T) {
	t.Parallel()
	clean := clean().events
	want := statuses(clean)
	rapid.Check(t, func(t *rapid.T) {
		skew := rapid.Int64Range(-4*3600_000, 4*3600_000)
		moved := skewed(clean, skew.Draw(t, "server"), skew.Draw(t, "boards"), -1)
		for _, v := range Judge(NewView(moved)) {
			switch {
			case bases[v.Clause] != 0 && (v.Status == Fail || v.Status == Pass):
				t.Errorf("%s is %s by clocks that weren't measured, want it undecided: %s", v.Clause, v.Status, v.Number)
			case bases[v.Clause] == 0 && v.Status != want[v.Clause]:
				t.Errorf("%s is %s with clocks apart, %s without: %s", v.Clause, v.Status, want[v.Clause], v.Number)
			}
		}
	})
}

// Measured clocks change no verdict, however far apart they are: after the correction, at most their uncertainty is
// left.
func TestMeasuredClocksChangeNoVerdict(t *testing.T) {
	t.Parallel()
	clean := clean().events
	want := statuses(clean)
	rapid.Check(t, func(t *rapid.T) {
		left := rapid.Int64Range(-900_000, 900_000)
		events := skewed(clean, 0, 0, 1e6)
		off := []int64{0, left.Draw(t, "server"), left.Draw(t, "boards")}
		of := make([][]history.Event, 3)
		for _, e := range events {
			e.WallNs += off[e.Src]
			of[e.Src] = append(of[e.Src], e)
		}
		for _, v := range Judge(NewView(history.Merge(of...))) {
			if v.Status != want[v.Clause] {
				t.Errorf("%s is %s, want %s: %s", v.Clause, v.Status, want[v.Clause], v.Number)
			}
		}
	})
}

// Boards' clocks that are 20 ms ahead make CMD-1 fail falsely if the stamps are used unmeasured. This is why clocks
// are measured.
func TestSkewTakenForTruthFails(t *testing.T) {
	t.Parallel()
	if got := statuses(skewed(clean().events, 0, 20, 0))["CMD-1"]; got != Fail {
		t.Errorf("boards 20 ms ahead, taken as they are: CMD-1 %s, want FAIL", got)
	}
}

// Clocks known to ± 6 ms each are too coarse to order events of server and boards.
func TestCoarseClocksOfTheFleet(t *testing.T) {
	t.Parallel()
	got := statuses(skewed(clean().events, 0, 0, 6e6))
	for clause, on := range bases {
		if on == onFleet && got[clause] != Invalid {
			t.Errorf("%s is %s at ± 12 ms between server and boards, want INVALID", clause, got[clause])
		}
		if on == onPairs && (got[clause] == Invalid || got[clause] == Fail) {
			t.Errorf("%s is %s at ± 12 ms between server and boards, want PASS or SKIPPED", clause, got[clause])
		}
	}
}

// Breaches that don't depend on time are still found under clocks that nobody measured.
func TestUnmeasuredClocksHideNoDoubleOpening(t *testing.T) {
	t.Parallel()
	h := clean()
	id := h.command("brd_1", "k-twice", "open", vocab.Reported, true, 0)
	h.after(t, is(history.Actuation, id), same)
	got := statuses(skewed(h.events, 1_000, -70_000, -1))
	for _, clause := range []string{"CMD-1", "CMD-5"} {
		if got[clause] != Fail {
			t.Errorf("two openings under one key: %s %s, want FAIL", clause, got[clause])
		}
	}
}

// A history ends with its last event, whichever process recorded it. If a clock wasn't measured, it ends at the time
// of the process furthest behind.
func TestEndOfTheHistory(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		errNs int64
		want  int64
	}{{1e6, t0 + 9000}, {-1, t0 + 2000}} {
		for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}} {
			var events []history.Event
			for _, src := range order {
				e := history.Event{Kind: history.Label, Src: src, At: t0 + []int64{2000, 9000, 5000}[src], WallNs: int64(src + 1)}
				if src > 0 {
					e.ErrNs = c.errNs
				}
				events = append(events, e)
			}
			if got := NewView(events).end; got != c.want {
				t.Errorf("± %d ns, processes %v: the history ends at %d, want %d", c.errNs, order, got-t0, c.want-t0)
			}
		}
	}
}
