package report

import (
	"testing"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
)

// TestLanes: each kind of event is in the lane of those who tell it.
func TestLanes(t *testing.T) {
	t.Parallel()
	for lane, kinds := range map[string][]string{
		"scenario": {history.Label, history.Look, history.Hand, history.Begun, history.World},
		"client":   {history.Attempt, history.Answer, history.Call, history.Unanswered},
		"server": {history.Started, history.Committed, history.Content, history.Entries, history.Intent, history.Publish, history.Received,
			history.Online, history.Offline, history.Applied, history.RecordIn},
		"board": {history.Door, history.Actuation, history.Presented, history.Released, history.Netloss, history.Line, history.Fault,
			history.Dropped, history.Rebooted, history.Wiped, history.Detached, history.Attached},
	} {
		for _, kind := range kinds {
			d := lanes(&judge.Bad{Event: history.Event{Kind: kind}})
			for i, name := range d.Names {
				if here := d.Ys[i] == d.Dots[0].Y; here != (name == lane) {
					t.Errorf("%s is in lane %s: %v, want it in %s only", kind, name, here, lane)
				}
			}
		}
	}
}
