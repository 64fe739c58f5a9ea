package judge

import (
	"slices"

	"github.com/doorlab/doorlab/internal/history"
)

func (v *View) board(id string) *board {
	b := v.boards[id]
	if b == nil {
		b = &board{id: id}
		v.boards[id] = b
	}
	return b
}

func (b *board) add(v *View, e *history.Event) {
	if b.place == "" || e.Kind == history.Door {
		if e.PlaceID != "" {
			b.place = e.PlaceID
		}
	}
	switch e.Kind {
	case history.Door:
		v.hasDoors, b.truth = true, true
		b.onsite = append(b.onsite, e)
		v.doors[e.DoorID] = b
		if !slices.Contains(b.channels, e.Channel) {
			b.channels = append(b.channels, e.Channel)
		}
	case history.Online:
		b.conn, b.applied, b.onsite = append(b.conn, e), append(b.applied, e), append(b.onsite, e)
	case history.Offline, history.Line, history.Detached:
		b.conn, b.onsite = append(b.conn, e), append(b.onsite, e)
	case history.Rebooted:
		b.deaths = append(b.deaths, e)
	case history.Attached, history.Wiped:
		b.conn, b.applied, b.onsite = append(b.conn, e), append(b.applied, e), append(b.onsite, e)
		if e.Kind == history.Wiped {
			b.wiped, b.deaths = append(b.wiped, e), append(b.deaths, e)
		}
	case history.Applied:
		b.applied, b.onsite = append(b.applied, e), append(b.onsite, e)
	case history.Presented:
		v.hasTruth = true
		b.presented, b.onsite = append(b.presented, e), append(b.onsite, e)
	case history.Netloss:
		b.onsite = append(b.onsite, e)
	case history.Released:
		b.falls, b.onsite = true, append(b.onsite, e)
	case history.Dropped:
		if b.dropped == nil {
			b.dropped = map[int64]bool{}
		}
		b.dropped[e.RecordSeq] = true
	}
}

func (v *View) place(id string) *place {
	p := v.places[id]
	if p == nil {
		p = &place{id: id, digests: map[int64]string{}}
		v.places[id] = p
	}
	return p
}

func (p *place) add(e *history.Event) {
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
	p.content.finish()
}
