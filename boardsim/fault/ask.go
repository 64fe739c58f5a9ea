package fault

import (
	"slices"
	"time"

	"github.com/doorlab/doorlab/boardsim/link"
	"github.com/doorlab/doorlab/internal/wire"
)

// Ruling is the faults' effect on one command: Incoming now, Outgoing on its report later.
type Ruling struct {
	Incoming
	Faults  []string // names of faults that hit it or may hit its report
	set     *Set
	boardID string
	armed   []*armed // those that may change the report
}

// Command is called once for each command that a board receives.
func (s *Set) Command(boardID, doorID, command string) Ruling {
	r := Ruling{set: s, boardID: boardID}
	if s.commands.Load() == 0 {
		return r
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.byBoard[boardID] {
		if a.k.incoming == nil && a.k.outgoing == nil || !a.matches(doorID, command) {
			continue
		}
		a.matching++
		if a.spec.Nth > 0 && a.matching != a.spec.Nth {
			continue
		}
		if a.k.outgoing != nil {
			r.armed = append(r.armed, a)
			r.Faults = append(r.Faults, a.k.name)
		} else if a.k.incoming(s.chance(a, boardID), &r.Incoming) {
			s.hit(a, 1)
			r.Faults = append(r.Faults, a.k.name)
		}
	}
	return r
}

// Outgoing is what goes up instead of the command's report.
func (r Ruling) Outgoing(report wire.Report) Outgoing {
	out := Outgoing{Report: report, Messages: []any{report}}
	if len(r.armed) == 0 {
		return out
	}
	r.set.mu.Lock()
	defer r.set.mu.Unlock()
	for _, a := range r.armed {
		switch acts := a.k.outgoing(r.set.chance(a, r.boardID), &out); {
		case acts && (a.k == &silentAfter || a.k == &late): // they act by not reporting now
			r.set.hit(a, 1)
		case acts:
			out.acting = append(out.acting, a)
		}
	}
	out.set = r.set
	return out
}

// Reported counts the faults that changed the report, when the board would send it: by then its session may be over.
func (o *Outgoing) Reported() {
	if len(o.acting) == 0 {
		return
	}
	o.set.mu.Lock()
	defer o.set.mu.Unlock()
	for _, a := range o.acting {
		o.set.hit(a, 1)
	}
}

// chance combines a fault's parameters with a board's next random numbers.
func (s *Set) chance(a *armed, boardID string) params {
	p := a.p
	p.draw = func() float64 { return s.draw(a, boardID) }
	return p
}

func (a *armed) matches(doorID, command string) bool {
	return (len(a.spec.DoorIDs) == 0 || slices.Contains(a.spec.DoorIDs, doorID)) &&
		(len(a.spec.Commands) == 0 || slices.Contains(a.spec.Commands, command))
}

// Line is the current state of a board's line.
func (s *Set) Line(boardID string) (l Line) {
	if s.lines.Load() == 0 {
		return l
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.byBoard[boardID] {
		if a.k.line != nil {
			a.k.line(a.p, a.down(boardID), &l)
		}
	}
	return l
}

// LineHit counts a packet for the line faults that may have affected it: what swallows everything (blind) leaves nothing for
// lossy to do. The shell calls it from link.Config.OnFault.
func (s *Set) LineHit(boardID string, dir link.Dir, blind bool) {
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
		a.k.line(a.p, false, &l)
		if swallows := l.HalfOpen || l.OnewayUp && dir == link.Up || l.OnewayDown && dir == link.Down; blind && swallows || !blind && l.Lossy != (link.Lossy{}) {
			s.hit(a, 1)
		}
	}
}

// Offset is how far a board's wall clock is off at domain time now: seconds, plus the drift since each skew was armed.
func (s *Set) Offset(boardID string, now time.Time) (off time.Duration) {
	if s.clocks.Load() == 0 {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.byBoard[boardID] {
		if a.k.clock != nil {
			sec, ppm := a.k.clock(a.p)
			off += seconds(sec) + time.Duration(float64(now.Sub(a.since))*ppm/1e6)
		}
	}
	return off
}
