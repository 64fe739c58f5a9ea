package testbed

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/server/board"
)

// TestOutageBeginsAtTheCut: however the boards' connections are cut, the server dates the outage to the cut, even if
// the clock jumps right after it.
func TestOutageBeginsAtTheCut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, link string
		fault      string
		within     time.Duration // how long after the request the cut may come: flapping boards take turns
	}{
		{"offline in memory", Memory, `{"fault":"offline","share":1}`, 0},
		{"offline over TCP", TCP, `{"fault":"offline","share":1}`, 0},
		{"flap in memory", Memory, `{"fault":"flap","share":1,"params":{"upSec":60,"downSec":36000}}`, time.Minute},
		{"detached over TCP", TCP, "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tb := begin(t, Config{Virtual: true, Link: c.link})
			virtual := tb.clk.(*clock.Virtual)
			virtual.Freeze()
			must.OK(t, virtual.Advance(tb.clk.Now().Truncate(time.Second).Add(time.Second))) // the server's dates are in milliseconds
			from := tb.clk.Now()
			cut := from.Add(c.within)
			lab := tb.lab()
			if c.fault != "" {
				clienttest.Do(t, lab, http.MethodPost, "/lab/v1/faults", json.RawMessage(c.fault), nil)
			}
			var boards []string
			for _, p := range tb.cfg.World.Places[1:] { // faults don't apply to the test place
				for _, b := range p.Boards {
					boards = append(boards, b.ID)
					if s := tb.life.Load().server.Board(b.ID); c.fault != "" && c.within == 0 && s.State != board.Offline {
						t.Errorf("%s is %s when the fault is armed, want offline: both ends notice at once", b.ID, s.State)
					}
					if c.fault != "" {
						continue
					}
					clienttest.Do(t, lab, http.MethodPost, "/lab/v1/boards/"+b.ID+"/detach", nil, nil)
				}
			}
			must.OK(t, virtual.Advance(cut.Add(time.Hour)))
			for _, id := range boards {
				if s := tb.life.Load().server.Board(id); s.State != board.Offline || s.Since.Before(from) || s.Since.After(cut) {
					t.Errorf("%s is %s since %s, want offline since the cut between %s and %s", id, s.State, s.Since, from, cut)
				}
			}
		})
	}
}
