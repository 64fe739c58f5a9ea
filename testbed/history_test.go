package testbed

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
)

// openMany opens the first door of the first live place n times.
func openMany(t *testing.T, tb *Testbed, prefix string, n int) {
	t.Helper()
	c := partner(t, tb, 1)
	door := tb.cfg.World.Places[1].Boards[0].Doors[0].ID
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range n / 8 {
				if got := openWith(t, c, door, fmt.Sprint(prefix, w, "-", i)); got != 200 {
					t.Errorf("command %d: got %d, want 200", i, got)
					return // each of the others might take minutes
				}
			}
		})
	}
	wg.Wait()
}

// TestStartedTellsNotAfter: the history records notAfter only if it was configured, so that the judge uses the
// contract's value instead of the server's own default.
func TestStartedTellsNotAfter(t *testing.T) {
	t.Parallel()
	for want, configured := range map[int64]time.Duration{0: 0, 2500: 2500 * time.Millisecond} {
		told := int64(0)
		for _, e := range begin(t, Config{NotAfter: configured}).History.Snapshot() {
			if e.Kind == history.Started && e.Text == "server" {
				told = e.NotAfterMs
			}
		}
		if told != want {
			t.Errorf("notAfter %s: the history tells %d ms, want %d", configured, told, want)
		}
	}
}

// A server keeps no events unless somebody records. A run in the middle of its life gets a history that begins with
// the current state and can be judged.
func TestHistoryOnDemand(t *testing.T) {
	t.Parallel()
	tb := begin(t, patient(Config{OnDemand: true}))
	openMany(t, tb, "before", 80)
	if tb.History.Len() != 0 || tb.spool.Recording() {
		t.Fatalf("%d events in memory, recording %v; want 0 and false", tb.History.Len(), tb.spool.Recording())
	}
	lab := tb.lab()
	must.Get(lab.Record(t.Context(), true))(t)
	openMany(t, tb, "within", 80)
	events, err := lab.History(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, e := range events {
		count[e.Kind+e.Op]++
	}
	boards := tb.Boards()
	for kind, want := range map[string]int{history.Online: boards, history.Applied: boards, history.Started: 1, history.RecordIn: 80,
		history.Content + history.ContentBase: len(tb.Ready.Places)} {
		if count[kind] != want {
			t.Errorf("%d events %q, want %d", count[kind], kind, want)
		}
	}
	if n := count[history.Intent+"open"]; n != 80 {
		t.Errorf("%d intents, want the 80 of the run", n)
	}
	for _, row := range judge.Ledger(judge.Judge(judge.NewView(events)), nil, judge.Basis{}) {
		if row.Status == judge.Fail {
			t.Errorf("%s fails, want no FAIL: %s %v", row.Clause, row.Number, row.FirstBad)
		}
	}
	must.Get(lab.Record(t.Context(), false))(t)
	if tb.spool.Recording() {
		t.Error("still recording")
	}
	openMany(t, tb, "after", 8)
	events, err = lab.History(t.Context()) // the first reader starts a recording
	if err != nil || len(events) == 0 || !tb.spool.Recording() {
		t.Errorf("%d events, %v, recording %v; want some, no error and true", len(events), err, tb.spool.Recording())
	}
	must.Get(lab.Record(t.Context(), true))(t)
	must.Get(lab.Record(t.Context(), false))(t)
	if tb.spool.Recording() {
		t.Error("a reader keeps the recording when the only run has ended")
	}
}

// What up plays counts as a run: its history includes what happened before the history was first requested.
func TestHistoryOfUp(t *testing.T) {
	t.Parallel()
	tb := begin(t, patient(Config{OnDemand: true, Recorded: true}))
	openMany(t, tb, "k", 8)
	lab := tb.lab()
	events := must.Get(lab.History(t.Context()))(t)
	intents := 0
	for _, e := range events {
		if e.Kind == history.Intent {
			intents++
		}
	}
	if intents != 8 || tb.History.Len() != 0 {
		t.Errorf("%d intents, %d events in memory; want 8 and 0", intents, tb.History.Len())
	}
}

// A run whose server was started again as a new process can't be judged: the new recording isn't the run's.
func TestHistoryOfAnotherProcess(t *testing.T) {
	t.Parallel()
	first, again := begin(t, Config{OnDemand: true, Recorded: true}).lab(), begin(t, Config{OnDemand: true, Recorded: true}).lab()
	run := []history.Position{must.Get(first.Record(t.Context(), true))(t)}
	if _, _, err := first.HistoryFrom(t.Context(), run, 0); err != nil {
		t.Errorf("the run's own: got %v, want no error", err)
	}
	if _, _, err := again.HistoryFrom(t.Context(), run, 0); !errors.Is(err, history.ErrReplaced) {
		t.Errorf("of the new process: got %v, want ErrReplaced", err)
	}
}

// A recording that replaces a broken one begins while the server is still reporting, and can be judged, too.
func TestHistoryOfAReplacedRecording(t *testing.T) {
	t.Parallel()
	tb := begin(t, patient(Config{OnDemand: true, Recorded: true}))
	openMany(t, tb, "before", 8)
	tb.spool.Stop() // the server isn't told
	lab := tb.lab()
	must.Get(lab.Record(t.Context(), true))(t)
	openMany(t, tb, "within", 80)
	events := must.Get(lab.History(t.Context()))(t)
	bases, intents := 0, 0
	for _, e := range events {
		switch {
		case e.Kind == history.Content && e.Op == history.ContentBase:
			bases++
		case e.Kind == history.Intent:
			intents++
		}
	}
	if bases != len(tb.Ready.Places) || intents != 80 {
		t.Errorf("%d places' content, %d intents; want %d and 80", bases, intents, len(tb.Ready.Places))
	}
	for _, row := range judge.Ledger(judge.Judge(judge.NewView(events)), nil, judge.Basis{}) {
		if row.Status == judge.Fail {
			t.Errorf("%s fails, want no FAIL: %s %v", row.Clause, row.Number, row.FirstBad)
		}
	}
}
