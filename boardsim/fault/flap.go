package fault

import (
	"time"

	"github.com/doorlab/doorlab/internal/clock"
)

// flap: the line alternates between up and down, in domain time. The seed shortens each board's first time up, so that
// boards don't flap in step.
var flap = kind{
	name: "flap",
	line: func(_ params, down bool, l *Line) { l.Offline = l.Offline || down },
	cycle: func(p params) (up, down time.Duration) {
		return seconds(p.Num["upSec"]), seconds(p.Num["downSec"])
	},
}

func seconds(f float64) time.Duration { return time.Duration(f * float64(time.Second)) }

// flapping is the state of one board's line.
type flapping struct {
	down  bool
	timer clock.Timer
}

func (a *armed) down(boardID string) bool {
	f := a.flaps[boardID]
	return f != nil && f.down
}

// startFlap starts the first phase of every board. Called with mu held.
func (s *Set) startFlap(a *armed) {
	a.flaps = make(map[string]*flapping, len(a.boards))
	up, _ := a.k.cycle(a.p)
	for _, b := range a.boards {
		a.flaps[b] = &flapping{}
		s.turnIn(a, b, time.Duration(float64(up)*s.unit(a.id, b)))
	}
}

func (s *Set) turnIn(a *armed, boardID string, d time.Duration) {
	a.flaps[boardID].timer = s.c.Clock.AfterFunc(d, func() { s.turn(a, boardID) })
}

func (s *Set) turn(a *armed, boardID string) {
	s.mu.Lock()
	if a.over {
		s.mu.Unlock()
		return
	}
	next, down := a.k.cycle(a.p)
	f := a.flaps[boardID]
	if f.down = !f.down; f.down {
		next = down
		s.hit(a, 1)
	}
	s.turnIn(a, boardID, next)
	s.mu.Unlock()
	if s.c.Board != nil {
		s.c.Board.LineChanged(boardID)
	}
}
