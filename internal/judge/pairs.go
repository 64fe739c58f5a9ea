package judge

import "github.com/doorlab/doorlab/internal/history"

// PairMs is what may lie between a line of the relay's journal and the
// presentation that caused it, in domain time: they are written one after the
// other by the same board.
const PairMs = 1000

// byItself: a line of the journal that the board wrote for a person at its reader.
func byItself(e *history.Event) bool {
	return e.Kind == history.Actuation && (e.Cause == "onsite" || e.Cause == "free")
}

// pairs join each presentation with the one journal line of its board, door and
// instant.
type pairs struct {
	lines  map[*history.Event]*history.Event // by presentation
	orphan []*history.Event                  // lines that nobody at a reader caused
}

func (b *board) pair() pairs {
	p := pairs{lines: map[*history.Event]*history.Event{}}
	open := map[string]*history.Event{} // by door: a line that waits for its presentation
	for _, e := range b.onsite {
		switch {
		case byItself(e):
			if last := open[e.DoorID]; last != nil {
				p.orphan = append(p.orphan, last)
			}
			open[e.DoorID] = e
		case e.Kind == history.Presented:
			if l := open[e.DoorID]; l != nil && near(l.At, e.At, PairMs) {
				p.lines[e] = l
				delete(open, e.DoorID)
			}
		}
	}
	for _, l := range open {
		p.orphan = append(p.orphan, l)
	}
	return p
}

func near(a, b, within int64) bool { return a-b <= within && b-a <= within }
