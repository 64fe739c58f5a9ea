package firmware

import (
	"slices"

	"github.com/doorlab/doorlab/internal/wire"
)

// sync applies a snapshot or a delta atomically, or asks for repair, see SYNC-1 and SYNC-2.
func (m *machine) sync() {
	y := m.ev.Change.Sync
	switch {
	case y.Pages > 1 && y.To == m.Content.Revision && y.Digest == m.Content.Digest(): // the board has all of it already
	case y.Snapshot && y.To < m.synced: // outdated: it would bring back what has been revoked since [SYNC-2]
		m.digest()
		return
	case y.Snapshot || y.From == m.Content.Revision && y.To != y.From:
		ch := m.whole()
		if ch == nil {
			return
		}
		m.Content, m.pages = m.Content.Apply(ch), nil // [SYNC-1] [SYNC-2]
		m.synced = y.To
		m.rename()
		m.persist(PartContent | PartCore)
	case y.To != m.Content.Revision: // neither for our revision nor a repeat
		m.digest()
		return
	}
	m.resume()
	m.publish(wire.UpAck, wire.SyncAck{Type: wire.SyncDone, Revision: m.Content.Revision, Digest: m.Content.Digest()})
}

// whole returns the change that is now complete: the Sync itself, or all pages if this is the last one. nil: a page is
// missing, and the server is told how many there are, from the first.
func (m *machine) whole() *Change {
	y := m.ev.Change.Sync
	if y.Pages < 2 {
		return m.ev.Change
	}
	if len(m.pages) > 0 && !m.pages[0].sameAs(y) {
		m.pages = nil // only one change is kept
	}
	if y.Page == len(m.pages)+1 {
		m.pages = append(slices.Clip(m.pages), m.ev.Change)
	}
	if len(m.pages) == y.Pages {
		return join(m.pages)
	}
	m.publish(wire.UpAck, wire.SyncAck{Type: wire.SyncPage, Revision: y.To, Page: len(m.pages)})
	return nil
}

// rename updates which door is on which of the board's channels.
func (m *machine) rename() {
	for _, c := range m.Content.Doors {
		if c.BoardID != m.BoardID {
			continue
		}
		i := slices.IndexFunc(m.Doors, func(d Door) bool { return d.Channel == c.Channel })
		if i >= 0 && m.Doors[i].ID != c.DoorID {
			m.door(i).ID = c.DoorID
		}
	}
}
