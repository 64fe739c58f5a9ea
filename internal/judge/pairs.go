package judge

import "github.com/doorlab/doorlab/internal/history"

// pairMs is how much domain time may lie between a line of the relay's journal and the presentation that caused it, where
// the presentation doesn't say which line it led to.
const pairMs = 1000

// byItself reports whether the board wrote a journal line for a person at its reader.
func byItself(e *history.Event) bool {
	return e.Kind == history.Actuation && (e.Cause == "onsite" || e.Cause == "free")
}

// pairs joins each presentation with the journal line of the same board, door and time.
type pairs struct {
	lines  map[*history.Event]*history.Event // by presentation
	orphan []*history.Event                  // lines that nobody at a reader caused
}

func (b *board) pair() pairs {
	p := pairs{lines: map[*history.Event]*history.Event{}}
	open := map[string]*history.Event{} // by door: a line without its presentation so far
	for _, e := range b.onsite {
		switch {
		case byItself(e):
			if last := open[e.DoorID]; last != nil {
				p.orphan = append(p.orphan, last)
			}
			open[e.DoorID] = e
		case e.Kind == history.Presented:
			if l := open[e.DoorID]; l != nil && belongs(l, e) {
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

// belongs reports whether a presentation led to a line of the journal. On a busy machine it may be told seconds later, so
// the line's number decides.
func belongs(line, presented *history.Event) bool {
	if line.JournalSeq != 0 && presented.JournalSeq != 0 {
		return line.JournalSeq == presented.JournalSeq
	}
	return near(line.At, presented.At, pairMs)
}

func near(a, b, within int64) bool { return a-b <= within && b-a <= within }
