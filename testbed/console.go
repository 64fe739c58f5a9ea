package testbed

import (
	"net/http"

	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/server"
	"github.com/doorlab/doorlab/server/board"
	"github.com/doorlab/doorlab/testbed/console"
)

// newConsole puts the web console over the control API.
func (t *Testbed) newConsole(token string, lab, public http.Handler) (*console.Console, error) {
	return console.New(console.Config{Token: token, World: t.cfg.World, Clock: t.clk, Lab: lab, Public: public, HTTP: t.Ready.HTTP,
		Boards: t.glances, Believes: t.fleet.Believes, Holder: t.holder, Feed: t.feed, Runs: t.cfg.Runs})
}

// watch is where the server reports what passes through it; nil without a console.
func (t *Testbed) watch() server.Watch {
	if t.feed == nil {
		return nil
	}
	return t.feed
}

// holder is whom a grant lets in.
func (t *Testbed) holder(placeID, grantID string) (phone, token string, err error) {
	l := t.life.Load()
	if l == nil {
		return "", "", errRestarting
	}
	return l.server.Holder(placeID, grantID)
}

// glances are the current states of all boards of the world: a simulated board's own, any other's as the server sees
// it.
func (t *Testbed) glances() []console.Board {
	l := t.life.Load()
	simulated := map[string]int{}
	own := t.fleet.Glances()
	for i, g := range own {
		if !g.Detached {
			simulated[g.BoardID] = i
		}
	}
	var out []console.Board
	behind := l.behind()
	for i := range t.cfg.World.Places {
		p := &t.cfg.World.Places[i]
		for j := range p.Boards {
			b := console.Board{ID: p.Boards[j].ID, PlaceID: p.ID, Behind: behind[p.Boards[j].ID]}
			if at, ok := simulated[b.ID]; ok {
				g := own[at]
				b.Simulated, b.Online, b.Phase, b.OutageAge = true, g.Online, g.Phase, g.OutageAge
			} else {
				t.seen(l, &b, p)
			}
			out = append(out, b)
		}
	}
	return out
}

// seen is a board that this process doesn't simulate.
func (t *Testbed) seen(l *life, b *console.Board, p *world.Place) {
	if l == nil {
		b.Phase = board.Unknown
		return
	}
	s := l.server.Board(b.ID)
	b.Online, b.Phase = s.State == board.Online, s.State
	if p.Kind == world.Live && t.cfg.Fleet {
		b.Detached = true
	}
	if !b.Online && !s.Since.IsZero() {
		b.OutageAge = t.clk.Now().Sub(s.Since)
	}
}
