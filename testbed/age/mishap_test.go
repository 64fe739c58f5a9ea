package age

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/server/command"
)

// TestCrashThatIsNotReached: a crash point that the command doesn't reach is disarmed. Nobody dies, then or later.
func TestCrashThatIsNotReached(t *testing.T) {
	t.Parallel()
	r := opened(t, nil)
	d, p := r.drawn(), r.places[slices.IndexFunc(r.places, func(p *place) bool { return p.live })]
	at := p.doors[0]
	d.strike("offline", at.board, map[string]any{"for": "1h"})()
	lives := r.tb.Lives()
	r.crash(p, at.board, command.AfterPublish, d.command(at))
	must.OK(t, r.clk.Advance(r.clk.Now().Add(2*hour)))
	p.token = ""
	r.signIn(p)
	if got := r.command(p, d.command(at)); got != "reported" || r.tb.Lives() != lives {
		t.Errorf("the next command was %q, and the server has started %d times, want reported and %d", got, r.tb.Lives(), lives)
	}
	if diff := cmp.Diff(map[string]int{"offline": 1}, r.counts().Mishaps); diff != "" || r.broken() != nil {
		t.Errorf("trouble: %v; mishaps (-want +got):\n%s", r.broken(), diff)
	}
}

// TestCrashAfterAReboot: a crash in the moment in which its board reboots waits for the board.
func TestCrashAfterAReboot(t *testing.T) {
	t.Parallel()
	r := opened(t, nil)
	d, p := r.drawn(), r.places[slices.IndexFunc(r.places, func(p *place) bool { return p.live })]
	at := p.doors[0]
	d.strike("reboot", at.board, nil)()
	r.crash(p, at.board, command.AfterPublish, &keyed{key: "k", command: "open", door: at.id})
	if diff := cmp.Diff(map[string]int{"reboot": 1, "crash after-publish, then noResponse": 1}, r.counts().Mishaps); diff != "" || r.broken() != nil {
		t.Errorf("trouble: %v; mishaps (-want +got):\n%s", r.broken(), diff)
	}
}
