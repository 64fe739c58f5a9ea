package history

import (
	"cmp"
	"maps"
	"slices"
)

// Standing is the present state according to a history: which boards and doors exist, who is online, what each board
// has applied and stored, which channels a command holds, and each place's content and entry doors. A recording begins
// with it, and a run that joins a recording uses it as its base. The zero value works.
type Standing struct {
	last map[standing]Event // Seq: order among them
	seen int64
}

// standing identifies the piece of state that an event describes.
type standing struct {
	what, id, detail string
	channel          int
}

// stands reports whether an event of a kind can change the present state; See ignores all others.
func stands(kind string) bool {
	switch kind {
	case Started, Door, Applied, Netloss, Online, Offline, Line, Wiped, Detached, Attached, Actuation, Content, Entries:
		return true
	}
	return false
}

// See processes the next event.
func (s *Standing) See(e Event) {
	if !stands(e.Kind) {
		return
	}
	k, over := standing{what: e.Kind, id: e.BoardID}, false
	switch e.Kind {
	case Started:
		k.detail = e.Text
	case Door:
		k.detail = e.DoorID
	case Applied, Netloss:
	case Entries:
		k.id = e.PlaceID
	case Online, Offline:
		k.what, over = Online, e.Kind == Offline
	case Line: // one condition at a time: the end carries the name of the last fault, not of the one that began it
		over = e.Op == "up"
	case Wiped:
		s.forget(e.BoardID)
		return
	case Detached, Attached:
		s.forget(e.BoardID)
		k.what, over = Detached, e.Kind == Attached
	case Actuation:
		k.channel = e.Channel
		switch held := e.Action == "hold" && e.Cause == "command"; {
		case held:
			e.CommandID = "" // the hold stands, its command is over
		case e.Action == "lock" || e.Cause == "hold_end":
			over = true
		default:
			return
		}
	case Content:
		k.id, k.detail, over = e.PlaceID, e.Op, e.Op == ContentRemoved
		if e.Op == ContentGrant || over {
			k.detail = ContentGrant + e.GrantID
		}
		if base := (standing{what: Content, id: e.PlaceID, detail: ContentBase}); k != base && s.last[base].Revision < e.Revision {
			if b, told := s.last[base]; told { // everything is known up to this revision
				b.Revision = e.Revision
				s.last[base] = b
			}
		}
	}
	if over {
		delete(s.last, k)
		return
	}
	if s.last == nil {
		s.last = map[standing]Event{}
	}
	s.seen++
	e.Seq = s.seen
	s.last[k] = e
}

// forget drops what a board had in its flash: it was wiped, or another board replaces it.
func (s *Standing) forget(board string) {
	maps.DeleteFunc(s.last, func(k standing, _ Event) bool {
		return k.id == board && (k.what == Applied || k.what == Netloss || k.what == Actuation)
	})
}

// Events are the standing events in order, numbered from 1.
func (s *Standing) Events() []Event {
	out := slices.AppendSeq(make([]Event, 0, len(s.last)), maps.Values(s.last))
	slices.SortFunc(out, func(a, b Event) int { return cmp.Compare(a.Seq, b.Seq) })
	for i := range out {
		out[i].Seq = int64(i + 1)
	}
	return out
}

// Since joins the histories of several processes for a run that began in the middle of their lives: the base of each,
// the event begun, and what has happened since, by WallNs.
func Since(begun Event, bases, since [][]Event) []Event {
	begun.Kind = Begun
	out := append(Merge(bases...), begun)
	out = append(out, Merge(since...)...)
	for i := range out {
		out[i].Seq = int64(i + 1)
	}
	return out
}
