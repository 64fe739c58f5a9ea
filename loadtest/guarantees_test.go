package loadtest

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/vocab"
)

// TestProof: a load is judged by its history too. Without a history the result says so; a history that can't be read
// completely makes the run INVALID.
func TestProof(t *testing.T) {
	t.Parallel()
	door := func(n int) (events []history.Event) {
		at := int64(1_000_000)
		events = append(events, history.Event{Kind: history.Door, PlaceID: "plc_1", BoardID: "brd_1", DoorID: "dor_1", Channel: 1},
			history.Event{Kind: history.Intent, PlaceID: "plc_1", DoorID: "dor_1", CommandID: "cmd_1", Op: "open"},
			history.Event{Kind: history.Publish, PlaceID: "plc_1", BoardID: "brd_1", DoorID: "dor_1", CommandID: "cmd_1", NotAfterMs: 5000, Op: "open"})
		for range n {
			events = append(events, history.Event{Kind: history.Actuation, PlaceID: "plc_1", BoardID: "brd_1", DoorID: "dor_1", Channel: 1, Boot: 1,
				Action: "pulse", Cause: "command", CommandID: "cmd_1"})
		}
		events = append(events, history.Event{Kind: history.Received, BoardID: "brd_1", CommandID: "cmd_1", Result: "ok"},
			history.Event{Kind: history.RecordIn, PlaceID: "plc_1", DoorID: "dor_1", CommandID: "cmd_1", RecordID: "rec_1", Result: "opened", Reason: "api"})
		for i := range events {
			events[i].Seq, events[i].At, events[i].WallNs = int64(i+1), at+int64(i), (at+int64(i))*1e6
		}
		return events
	}
	for name, c := range map[string]struct {
		events  []history.Event
		cut     bool
		control bool
		verdict string
		exit    int
		says    string
	}{
		"no control":        {nil, false, false, Pass, 0, "no control listener"},
		"one opening":       {door(1), false, true, Pass, 0, "(0 broken)"},
		"two openings":      {door(2), false, true, Fail, 4, "actuated 2 times"},
		"a history cut off": {door(1), true, true, Invalid, 6, "not judged: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lab := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				var b strings.Builder
				_ = history.Write(&b, c.events)
				text := b.String()
				if c.cut {
					text = text[:len(text)/2]
				}
				_, _ = w.Write([]byte(text))
			}))
			defer lab.Close()
			target, dir := Target{}, t.TempDir()
			if c.control {
				target.Control = []string{lab.URL}
			}
			var o Options
			log := o.newLog()
			o.History(history.Event{Kind: history.Attempt, At: 1_000_000, WallNs: 1_000_000 * 1e6, Request: "r1", PlaceID: "plc_1", DoorID: "dor_1", Meaning: "dor_1 open"})
			o.History(history.Event{Kind: history.Answer, At: 1_000_100, WallNs: 1_000_100 * 1e6, Request: "r1", PlaceID: "plc_1", DoorID: "dor_1", Status: 200,
				Outcome: vocab.Reported, CommandID: "cmd_1", Meaning: "dor_1 open"})
			res := Result{Verdict: Pass, Search: make([]Step, 3)}
			r := &runner{opts: Options{OutDir: dir}}
			must.OK(t, r.prove(t.Context(), target, log, &res))
			if res.Verdict != c.verdict || res.ExitCode() != c.exit {
				t.Errorf("got %s exit %d %v, want %s exit %d", res.Verdict, res.ExitCode(), res.Reasons, c.verdict, c.exit)
			}
			if text, page := res.Text(), res.HTML(); !strings.Contains(text, c.says) || !strings.Contains(page, strings.TrimPrefix(c.says, "(0 broken)")) {
				t.Errorf("the reports don't say %q:\n%s", c.says, text)
			}
			if said := strings.Contains(res.Text(), "judged over the whole search, 3 steps"); said != (c.verdict != Invalid) {
				t.Errorf("says that the guarantees are those of 3 steps: %v, want %v", said, c.verdict != Invalid)
			}
			_, err := os.Stat(filepath.Join(dir, historyFile))
			if kept := err == nil; kept != (c.verdict != Invalid) {
				t.Errorf("history kept: %v, want %v", kept, c.verdict != Invalid)
			}
			judgedAgain(t, dir, res)
		})
	}
}

// judgedAgain: judging a kept load again comes to the same verdict, whatever its result.json claims; a load whose guarantees
// weren't judged, and a history that lacks an event, are refused.
func judgedAgain(t *testing.T, dir string, res Result) {
	t.Helper()
	must.OK(t, res.Write(dir))
	if res.Guarantees.History == nil {
		if _, err := Judge(dir); err == nil || !strings.Contains(err.Error(), "no history") {
			t.Errorf("a load that wasn't judged: %v, want that it has no history", err)
		}
		return
	}
	claims := res
	claims.Verdict, claims.Reasons, claims.Guarantees = Pass, nil, &Guarantees{History: res.Guarantees.History, Basis: res.Guarantees.Basis}
	for what, kept := range map[string]Result{"as it was": res, "claiming PASS": claims} {
		must.OK(t, kept.Write(dir))
		again := must.Get(Judge(dir))(t)
		if again.Verdict != res.Verdict || !slices.Equal(again.Reasons, res.Reasons) || len(again.Guarantees.Rows) != len(res.Guarantees.Rows) {
			t.Errorf("%s: judged again, %s %v with %d rows; at first %s %v with %d", what, again.Verdict, again.Reasons, len(again.Guarantees.Rows),
				res.Verdict, res.Reasons, len(res.Guarantees.Rows))
		}
	}
	path := filepath.Join(dir, historyFile)
	var events []history.Event
	must.Get(history.Decode(must.Get(os.Open(path))(t), func(e *history.Event) { events = append(events, *e) }))(t)
	var shorter bytes.Buffer
	must.OK(t, history.Write(&shorter, events[:len(events)-1]))
	must.OK(t, os.WriteFile(path, shorter.Bytes(), 0o600))
	if _, err := Judge(dir); err == nil || !strings.Contains(err.Error(), "not that run's history") {
		t.Errorf("a history without its last event: %v, want that it isn't that run's", err)
	}
}

// TestAgainKeepsWhatWasMeasured: guarantees that hold make no other load a PASS.
func TestAgainKeepsWhatWasMeasured(t *testing.T) {
	t.Parallel()
	broken := []Threshold{{Name: "p99", Limit: "100ms", Value: "2 s"}}
	for name, kept := range map[string]Result{
		"a generator that lagged":  {Verdict: Invalid, Doubts: []string{"the generator lagged"}, Reasons: []string{"the generator lagged"}},
		"a broken threshold":       {Verdict: Fail, Thresholds: broken, Reasons: []string{broken[0].why()}},
		"a lag and slow answers":   {Verdict: Invalid, Thresholds: broken, Doubts: []string{"the generator lagged"}, Reasons: []string{"the generator lagged", broken[0].why()}},
		"an answer that breaches":  {Verdict: Fail, Breaches: 1, Validated: 9, FirstBreach: "x", Reasons: []string{"1 of 9 answers violate the OpenAPI documents: x"}},
		"an interrupted search":    {Verdict: Fail, Reasons: []string{"the step at 200/s was p99 is 2 s; the limit is 100 ms"}},
		"a load of an old version": {Verdict: Invalid, Reasons: []string{"interrupted"}},
	} {
		for _, also := range []string{"", "CMD-1: 1 of 9 broke it"} { // what was said of a guarantee then is decided again
			res := kept
			if also != "" {
				res.Reasons = append(slices.Clone(kept.Reasons), also)
			}
			res.Guarantees = &Guarantees{}
			if res.again(&Guarantees{}, nil); res.Verdict != kept.Verdict || !slices.Equal(res.Reasons, kept.Reasons) {
				t.Errorf("%s, %q: %s %q, want %s %q", name, also, res.Verdict, res.Reasons, kept.Verdict, kept.Reasons)
			}
		}
	}
	res := Result{Verdict: Fail, Reasons: []string{"CMD-1: 1 of 9 broke it"}, Guarantees: &Guarantees{}}
	if res.again(&Guarantees{}, nil); res.Verdict != Pass || len(res.Reasons) > 0 {
		t.Errorf("a guarantee that holds now: %s %q, want PASS", res.Verdict, res.Reasons)
	}
}
