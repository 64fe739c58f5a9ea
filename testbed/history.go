package testbed

import (
	"io"

	"github.com/doorlab/doorlab/internal/history"
)

// told is where the parts tell their events; nil when nobody can ever read them.
func (t *Testbed) told() func(history.Event) {
	switch {
	case t.spool != nil:
		return t.spool.Append
	case t.cfg.OnDemand:
		return nil
	}
	return t.History.Append
}

// recording reports whether events are recorded now.
func (t *Testbed) recording() bool { return t.spool == nil || t.spool.Recording() }

// record begins and ends a recording. One that begins holds the present state:
// boards, connections, applied revisions, and each place's content.
func (t *Testbed) record(on bool) error {
	if t.spool == nil {
		return nil // always on
	}
	l := t.life.Load()
	if !on {
		if t.spool.Stop() && l != nil {
			return l.server.Record(false)
		}
		return nil
	}
	if l == nil {
		return errRestarting
	}
	fresh, err := t.spool.Start()
	if err == nil && fresh {
		err = l.server.Record(true)
	}
	return err
}

// writeHistory writes the events after seq. Where nothing is recorded yet, that
// begins now.
func (t *Testbed) writeHistory(w io.Writer, seq int64) error {
	if t.spool == nil {
		return t.History.WriteSince(w, seq)
	}
	if !t.spool.Recording() {
		if err := t.record(true); err != nil {
			return err
		}
	}
	return t.spool.WriteSince(w, seq)
}
