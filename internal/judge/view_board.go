package judge

import (
	"cmp"
	"slices"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
)

func (v *View) board(id string) *board {
	return each.Made(v.boards, id, func() *board { return &board{id: id} })
}

// seat is the id of a board whose simulated board was detached: a real one, which inherits nothing, speaks for it until
// the simulated one is back.
type seat struct {
	guests []*board // each that replaced it; the last one speaks while it is away
	away   bool     // ... since the hello that followed the detachment
	next   bool     // whether away holds from the next hello on
}

// speaker is the board that an event belongs to. The server's events belong to the board that said hello last; a
// connection's end belongs to that connection's board. Only simulated boards report anything themselves.
func (v *View) speaker(e *history.Event) *board {
	own, s := v.board(e.BoardID), v.seats[e.BoardID]
	if s == nil && e.Kind == history.Detached {
		s = &seat{}
		v.seats[e.BoardID] = s
	}
	if s == nil {
		return own
	}
	switch e.Kind {
	case history.Detached:
		if !s.next {
			s.guests = append(s.guests, &board{id: own.id, place: own.place, guest: true})
		}
		s.next = true
	case history.Attached:
		s.next = false
	case history.Online:
		s.away = s.next
	case history.Offline:
		for _, b := range append([]*board{own}, s.guests...) {
			if b.epoch == e.Epoch {
				return b
			}
		}
	case history.Publish, history.Applied, history.RecordIn:
	default:
		return own
	}
	if last := s.guests[len(s.guests)-1]; s.away && e.Kind != history.Detached && e.Kind != history.Attached {
		return last
	}
	return own
}

// everyBoard lists the boards, each followed by those that replaced it.
func (v *View) everyBoard() (out []*board) {
	for id, b := range v.boards {
		out = append(out, b)
		if s := v.seats[id]; s != nil {
			out = append(out, s.guests...)
		}
	}
	return out
}

func (b *board) add(v *View, e *history.Event) {
	if b.place == "" || e.Kind == history.Door {
		if e.PlaceID != "" {
			b.place = e.PlaceID
		}
	}
	switch e.Kind {
	case history.Door:
		b.truth = true
		b.onsite = append(b.onsite, e)
		v.doors[e.DoorID] = b
		if !slices.Contains(b.channels, e.Channel) {
			b.channels = append(b.channels, e.Channel)
		}
	case history.Online:
		b.epoch = e.Epoch
		b.conn, b.applied, b.onsite = append(b.conn, e), append(b.applied, e), append(b.onsite, e)
	case history.Offline, history.Line, history.Detached:
		b.conn, b.onsite = append(b.conn, e), append(b.onsite, e)
	case history.Rebooted:
		b.deaths = append(b.deaths, e)
	case history.Attached, history.Wiped:
		b.conn, b.applied, b.onsite = append(b.conn, e), append(b.applied, e), append(b.onsite, e)
		if e.Kind == history.Wiped {
			b.wiped, b.deaths = append(b.wiped, e), append(b.deaths, e)
		} else if spoken := v.hands[b.id]; len(spoken) > 0 {
			v.hands[b.id] = append(spoken, e)
		}
	case history.Applied:
		b.applied, b.onsite = append(b.applied, e), append(b.onsite, e)
	case history.Presented:
		b.presented, b.onsite = append(b.presented, e), append(b.onsite, e)
	case history.Netloss, history.Released:
		b.onsite = append(b.onsite, e)
	case history.Dropped:
		each.Put(&b.dropped, e.RecordSeq, true)
	}
}

func (v *View) addActuation(e *history.Event) {
	b := v.board(e.BoardID)
	b.onsite = append(b.onsite, e)
	b.place = cmp.Or(b.place, e.PlaceID)
	switch {
	case e.Cause != "command":
		return
	case e.CommandID == "":
		if moved(e) {
			v.unasked = append(v.unasked, e)
		}
		return
	}
	if c := v.command(e); moved(e) {
		c.acts = append(c.acts, e)
	}
}

// moved reports whether the relay did something; refuse and deny are only journal lines.
func moved(e *history.Event) bool {
	switch e.Action {
	case "pulse", "hold", "lock", "off":
		return true
	}
	return false
}

func (v *View) place(id string) *place {
	return each.Made(v.places, id, func() *place { return &place{id: id, digests: map[int64]string{}} })
}

func (p *place) add(e *history.Event) {
	if e.Op != history.ContentBase {
		p.raised = append(p.raised, e)
	}
	if e.Kind == history.Content {
		p.content.add(e)
		return
	}
	p.commits = append(p.commits, e)
	if e.Digest != "" {
		p.digests[e.Revision] = e.Digest
	}
}

func (p *place) finish() {
	slices.SortStableFunc(p.commits, func(a, b *history.Event) int { return int(a.Revision - b.Revision) })
	slices.SortStableFunc(p.raised, func(a, b *history.Event) int { return int(a.Revision - b.Revision) })
	p.content.finish()
}
