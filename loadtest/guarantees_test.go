package loadtest

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
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
		})
	}
}
