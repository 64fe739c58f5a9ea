package testbed

import (
	"io"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/why"
)

// told is where the parts report their events; nil if nobody can ever read them.
func (t *Testbed) told() func(history.Event) {
	if keep := t.kept(); t.feed != nil {
		return func(e history.Event) {
			t.feed.Event(e)
			keep(e)
		}
	} else if keep != nil {
		return keep
	}
	return nil
}

func (t *Testbed) kept() func(history.Event) {
	switch {
	case t.cfg.Tell != nil:
		return t.cfg.Tell
	case t.spool != nil:
		return t.spool.Append
	case t.cfg.OnDemand:
		return nil
	}
	return t.History.Append
}

// recording reports whether events are recorded now.
func (t *Testbed) recording() bool { return t.spool == nil || t.spool.Recording() }

// record starts and stops a recording. A new one begins with the present state: boards, connections, applied revisions,
// and each place's content. It returns where the recording is now.
func (t *Testbed) record(on bool) (now history.Position, err error) {
	if t.spool == nil {
		return history.Position{Seq: t.events()}, nil // always on
	}
	l := t.life.Load()
	if !on {
		if t.spool.Stop() && l != nil {
			return now, l.server.Record(false)
		}
		return now, nil
	}
	if l == nil {
		return now, errRestarting
	}
	fresh, err := t.spool.Start()
	if err != nil {
		return now, err
	}
	if err := t.tellState(l, fresh); err != nil {
		t.spool.Stop()
		return now, err
	}
	return t.spool.Position(), nil
}

// tellState has the server tell a fresh recording what there is. Without that, the recording is incomplete for everybody.
func (t *Testbed) tellState(l *life, fresh bool) error {
	if !fresh {
		return nil
	}
	err := l.server.Record(true)
	if err != nil {
		t.spool.Fail(err)
	}
	return err
}

// reading starts a recording if there is none, for somebody who only reads it and won't end it.
func (t *Testbed) reading() error {
	l := t.life.Load()
	if l == nil && t.spool.Recording() {
		return nil
	}
	if l == nil {
		return errRestarting
	}
	fresh, err := t.spool.Read()
	if err != nil {
		return err
	}
	return t.tellState(l, fresh)
}

// writeHistory writes the events after seq. If nothing is being recorded, it starts a recording.
func (t *Testbed) writeHistory(w io.Writer, seq int64) error {
	if t.spool == nil {
		return t.History.WriteSince(w, seq)
	}
	if err := t.reading(); err != nil {
		return err
	}
	return t.spool.WriteSince(w, seq)
}

// timeline is the recording of a place, up to a line of a board's journal if one is given. If nothing is being recorded, it
// starts a recording.
func (t *Testbed) timeline(placeID string, until *why.Line) (*why.Timeline, error) {
	out := &why.Timeline{PlaceID: placeID, Until: until}
	if t.spool == nil {
		return out, t.History.Each(0, func(e *history.Event) error { out.Add(e); return nil })
	}
	if err := t.reading(); err != nil {
		return nil, err
	}
	return out, t.spool.Each(placeID, out.Add)
}
