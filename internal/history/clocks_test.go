package history

import (
	"strings"
	"testing"
)

func TestClocksApply(t *testing.T) {
	t.Parallel()
	clocks := Clocks{
		{Source: "server", Measured: true, OffsetNs: 50e6, ErrNs: 2e5, Real: true},
		{Source: "boards", Measured: true, OffsetNs: -30e6, ErrNs: 3e5, Real: true},
		{Source: "old", Why: "no wallNs", Real: true},
	}
	one := func() []Event { return []Event{{At: 1000, WallNs: 1e9}, {At: 1000}} }
	base, since := [][]Event{one(), one(), one()}, [][]Event{one(), one(), one()}
	clocks.Apply(0, base, since)
	for _, lists := range [][][]Event{base, since} {
		for i, want := range []Event{{At: 1000, WallNs: 1e9 - 50e6, Src: 1, ErrNs: 2e5}, {At: 1080, WallNs: 1e9 + 30e6, Src: 2, ErrNs: 3e5}, {At: 1000, WallNs: 1e9, Src: 3, ErrNs: -1}} {
			if got := lists[i][0]; got != want {
				t.Errorf("source %d: got %+v, want %+v", i+1, got, want)
			}
			if got := lists[i][1]; got.WallNs != 0 || got.Src != want.Src {
				t.Errorf("source %d, without a stamp: got %+v, want none and its source", i+1, got)
			}
		}
	}
	clocks[1].SetNs = -5e9 // its machine's clock was set back, which moves its domain time only
	set := [][]Event{nil, one()}
	clocks.Apply(0, set)
	if got := set[1][0]; got.At != 6080 || got.WallNs != 1e9+30e6 {
		t.Errorf("a clock that was set: got %d and %d ns, want 6080 and %d", got.At, got.WallNs, int64(1e9+30e6))
	}
	virtual := [][]Event{nil, one()}
	clocks[1].Real = false
	clocks.Apply(0, virtual)
	if got := virtual[1][0].At; got != 1000 {
		t.Errorf("a virtual clock's time became %d, want 1000: the run sets it", got)
	}
}

func TestClocksTold(t *testing.T) {
	t.Parallel()
	fine := Clock{Measured: true, OffsetNs: -50e6, ErrNs: 2e5}
	for want, c := range map[string]Clocks{
		"":                      nil,
		"50.00 ms apart, known": {fine},
		"at most 80.00 ms":      {fine, {Measured: true, OffsetNs: 30e6}},
		"at most 60.00 ms":      {{Measured: true, OffsetNs: 60e6}, {Measured: true, OffsetNs: 30e6}},
		"± 0.20 ms; 7 pairs":    {fine},
		"± 1 ms would be fine":  {fine, {Measured: true, ErrNs: 3e6}},
		"not measured: b (why)": {fine, {Source: "b", Why: "why"}},
	} {
		if got := c.Told(7); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("got %q, want %q in it", got, want)
		}
	}
}

// TestNotesOnClocks: a note is recognized as such, and as a routine one only if every clock is known well.
func TestNotesOnClocks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		clocks  Clocks
		routine bool
	}{
		"well known":   {Clocks{{Measured: true, ErrNs: 1000}}, true},
		"coarse":       {Clocks{{Measured: true, ErrNs: 2 * FineNs}}, false},
		"not measured": {Clocks{{Source: "http://x", Why: "it is gone"}}, false},
	} {
		note := c.clocks.Told(0)
		if !AboutClocks(note) || Routine(note) != c.routine {
			t.Errorf("%s: %q is about clocks %t, routine %t; want true, %t", name, note, AboutClocks(note), Routine(note), c.routine)
		}
	}
	if AboutClocks("the clocks") || Routine("another note") {
		t.Error("another note counts as one about clocks")
	}
}
