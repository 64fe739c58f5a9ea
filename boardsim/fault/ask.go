package fault

import (
	"slices"
	"time"

	"github.com/doorlab/doorlab/boardsim/link"
)

// OnCommand is asked once for each command that a board received.
func (s *Set) OnCommand(boardID, doorID, command string) (d Decision) {
	if s.commands.Load() == 0 {
		return d
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.byBoard[boardID] {
		if a.k.command == nil || !a.matches(doorID, command) {
			continue
		}
		a.matching++
		if a.spec.Nth > 0 && a.matching != a.spec.Nth {
			continue
		}
		if a.k.command(a.v, func() float64 { return s.draw(a, boardID) }, &d) {
			s.hit(a, 1)
		}
	}
	return d
}

func (a *armed) matches(doorID, command string) bool {
	return (len(a.spec.DoorIDs) == 0 || slices.Contains(a.spec.DoorIDs, doorID)) &&
		(len(a.spec.Commands) == 0 || slices.Contains(a.spec.Commands, command))
}

// Line is the state of a board's line now.
func (s *Set) Line(boardID string) (l Line) {
	if s.lines.Load() == 0 {
		return l
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.byBoard[boardID] {
		if a.k.line != nil {
			a.k.line(a.v, a.down(boardID), &l)
		}
	}
	return l
}

// LineHit counts a packet for the line faults that could have had it: the shell
// calls it from link.Config.OnFault.
func (s *Set) LineHit(boardID string, dir link.Dir) {
	if s.lines.Load() == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.byBoard[boardID] {
		if a.k.line == nil {
			continue
		}
		var l Line
		a.k.line(a.v, false, &l)
		if l.HalfOpen || l.OnewayUp && dir == link.Up || l.OnewayDown && dir == link.Down || l.Lossy != (link.Lossy{}) {
			s.hit(a, 1)
		}
	}
}

// Skew is the sum of a board's clock skews as armed; Offset is what they come to.
func (s *Set) Skew(boardID string) (seconds, ppm float64) {
	s.skews(boardID, func(a *armed, sec, p float64) { seconds, ppm = seconds+sec, ppm+p })
	return seconds, ppm
}

// Offset is how far a board's wall clock is off at domain time now: seconds plus
// the drift since each skew was armed.
func (s *Set) Offset(boardID string, now time.Time) (off time.Duration) {
	s.skews(boardID, func(a *armed, sec, ppm float64) {
		off += seconds(sec) + time.Duration(float64(now.Sub(a.since))*ppm/1e6)
	})
	return off
}

func (s *Set) skews(boardID string, f func(a *armed, seconds, ppm float64)) {
	if s.clocks.Load() == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.byBoard[boardID] {
		if a.k.clock != nil {
			sec, ppm := a.k.clock(a.v)
			f(a, sec, ppm)
		}
	}
}
