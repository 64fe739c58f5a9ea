package loadtest

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/report"
	"github.com/doorlab/doorlab/internal/vocab"
)

var labStart = time.Unix(1000, 0)

// labHistory is a run of 6 s on three boards, one of which drops out and comes back with an old revision.
func labHistory() (out []history.Event) {
	add := func(at float64, e history.Event) {
		e.WallNs = labStart.Add(time.Duration(at * 1e9)).UnixNano()
		e.At, e.PlaceID = e.WallNs/1e6, "plc_a"
		out = append(out, e)
	}
	for i, b := range []string{"brd_a", "brd_b", "brd_c"} {
		add(-20, history.Event{Kind: history.Door, BoardID: b})
		if i < 2 {
			add(-10, history.Event{Kind: history.Online, BoardID: b, Epoch: 1, Revision: 1})
		}
	}
	add(-9, history.Event{Kind: history.Committed, Revision: 1})
	add(-8, history.Event{Kind: history.Actuation, BoardID: "brd_a", Action: "pulse"}) // before the run
	add(0.5, history.Event{Kind: history.Actuation, BoardID: "brd_a", Action: "pulse"})
	add(0.6, history.Event{Kind: history.Actuation, BoardID: "brd_a", Action: "refuse"})
	add(1.1, history.Event{Kind: history.Line, BoardID: "brd_b", Op: "down", Text: "offline"})
	add(1.2, history.Event{Kind: history.Offline, BoardID: "brd_b", Epoch: 1})
	add(1.3, history.Event{Kind: history.Line, BoardID: "brd_a", Op: "lossy", Text: history.AllPackets})
	add(2.5, history.Event{Kind: history.Committed, Revision: 2})
	add(2.6, history.Event{Kind: history.Applied, BoardID: "brd_a", Revision: 2})
	add(2.7, history.Event{Kind: history.Fault, BoardID: "brd_a", Text: "slow late"})
	add(2.9, history.Event{Kind: history.Fault, BoardID: "brd_a", Text: "slow"})
	add(3.1, history.Event{Kind: history.Line, BoardID: "brd_b", Op: "up", Text: "offline"})
	add(3.2, history.Event{Kind: history.Online, BoardID: "brd_b", Epoch: 2, Revision: 1})
	add(4.5, history.Event{Kind: history.Applied, BoardID: "brd_b", Revision: 2})
	add(4.6, history.Event{Kind: history.Actuation, BoardID: "brd_b", Action: "hold"})
	add(9, history.Event{Kind: history.Actuation, BoardID: "brd_b", Action: "pulse"}) // after it
	return out
}

// TestLab: openings, boards and faults are assigned to the seconds in which they happened. State from before the run
// counts; events before or after it don't.
func TestLab(t *testing.T) {
	t.Parallel()
	want := &Lab{
		Seconds: []LabSecond{
			{Second: 0, Opened: 1, Online: 2, Away: 1},
			{Second: 1, Online: 1, Away: 2},
			{Second: 2, Online: 1, Away: 2},
			{Second: 3, Online: 2, Away: 1, Behind: 1},
			{Second: 4, Opened: 1, Online: 2, Away: 1},
			{Second: 5, Online: 2, Away: 1},
		},
		Faults: []FaultTime{{Fault: "offline", From: 1.1, To: 3.1, Boards: 1}, {Fault: "lossy", From: 1.3, To: 6, Boards: 1},
			{Fault: "late", From: 2.7, To: 2.7, Hits: 1}, {Fault: "slow", From: 2.7, To: 2.9, Hits: 2}},
	}
	if diff := cmp.Diff(want, newLab(labHistory(), labStart, 6)); diff != "" {
		t.Errorf("the lab's lanes differ (-want +got):\n%s", diff)
	}
	if got := newLab(nil, labStart, 6); got != nil {
		t.Errorf("without boards: got %+v, want none", got)
	}
}

// TestMergedLabs: shards are added up second by second, like their series.
func TestMergedLabs(t *testing.T) {
	t.Parallel()
	one := Result{Started: labStart, Lab: newLab(labHistory(), labStart, 6)}
	other := one
	other.Started = labStart.Add(2 * time.Second)
	got := mergeLabs(labStart, []Result{one, other, {}})
	if n := len(got.Seconds); n != 8 {
		t.Fatalf("%d seconds, want 8", n)
	}
	if want := (LabSecond{Second: 4, Opened: 1, Online: 3, Away: 3}); got.Seconds[4] != want {
		t.Errorf("the fifth second is %+v, want %+v", got.Seconds[4], want)
	}
	want := []FaultTime{{Fault: "offline", From: 1.1, To: 5.1, Boards: 2}, {Fault: "lossy", From: 1.3, To: 8, Boards: 2},
		{Fault: "late", From: 2.7, To: 2.7, Hits: 1}, {Fault: "slow", From: 2.7, To: 2.9, Hits: 2},
		{Fault: "late", From: 4.7, To: 4.7, Hits: 1}, {Fault: "slow", From: 4.7, To: 4.9, Hits: 2}}
	if diff := cmp.Diff(want, got.Faults); diff != "" {
		t.Errorf("faults that overlap are one (-want +got):\n%s", diff)
	}
}

// TestSamples: for each outcome the first two and the slowest three are kept, each once. A broken threshold shows the
// samples that it is about, the worst last.
func TestSamples(t *testing.T) {
	t.Parallel()
	all := samples{}
	for i, since := range []float64{5, 900, 30, 800, 700, 10, 20} {
		all.take(vocab.Reported, since, func() Sample {
			return Sample{Seq: uint64(i), Outcome: vocab.Reported, Since: since, Exchange: report.Exchange{Ms: since, Note: "reported"}}
		})
	}
	all.take(rejected, 3, func() Sample {
		return Sample{Seq: 9, Outcome: rejected, Since: 3, Exchange: report.Exchange{Status: 400}}
	})
	var kept []float64
	for _, s := range all.list() {
		kept = append(kept, s.Since)
	}
	if diff := cmp.Diff([]float64{900, 800, 700, 5, 3}, kept); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	res := Result{Samples: all.list()}
	for name, want := range map[string][]float64{"p99_reported=100ms": {700, 800, 900}, "service_max_all=750ms": {800, 900}, "errors=0": {0}, "reported_min=99%": {0},
		"reported_max=1": {5, 700, 800, 900}, "lag_p99=1ms": nil, "rate_min=9/s": nil} {
		var got []float64
		for _, x := range res.showing(threshold(name)) {
			got = append(got, x.Ms)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s shows (-want +got):\n%s", name, diff)
		}
	}
	if got := res.Shown(); len(got) != 1 || got[0].Status != 400 {
		t.Errorf("without a broken threshold: %+v, want the one that was rejected", got)
	}
}

func threshold(text string) Threshold {
	name, limit, _ := strings.Cut(text, "=")
	return Threshold{Name: name, Limit: limit}
}
