package boardsync

import (
	"encoding/json"
	"time"

	"github.com/doorlab/doorlab/internal/wire"
)

// pageSize is the approximate size of a page; a change that fits is sent as one message. window is how many pages may
// be in flight: a command waits behind no more than these.
const (
	pageSize = 32 << 10
	window   = 2
)

// encode turns a change into messages.
func encode(y wire.Sync) (made, error) {
	m := made{to: y.To, digest: y.Digest, snapshot: y.Snapshot}
	head := y
	head.Upsert, head.Remove = nil, nil
	raw, err := json.Marshal(head)
	if err != nil {
		return made{}, err
	}
	var p pager
	p.begin(len(raw))
	for _, id := range y.Remove {
		p.add(&p.last().remove, id)
	}
	for _, g := range y.Upsert {
		p.add(&p.last().upsert, g)
	}
	if p.err != nil {
		return made{}, p.err
	}
	for i, pg := range p.list {
		if i > 0 { // the rest goes with the first
			head = wire.Sync{From: y.From, To: y.To, Snapshot: y.Snapshot, Digest: y.Digest}
		}
		if len(p.list) > 1 {
			head.Page, head.Pages = i+1, len(p.list)
		}
		if raw, err = json.Marshal(head); err != nil {
			return made{}, err
		}
		payload := pg.with(raw)
		m.pages, m.bytes = append(m.pages, payload), m.bytes+len(payload)
	}
	return m, nil
}

// page is the content of a page, each item encoded once.
type page struct {
	remove, upsert []byte // comma between them
	n              int    // bytes
}

// pager fills pages in order.
type pager struct {
	list []*page
	err  error
}

func (p *pager) begin(n int) { p.list = append(p.list, &page{n: n}) }
func (p *pager) last() *page { return p.list[len(p.list)-1] }

// add appends an item to a list of the last page, or of a new one if that is full.
func (p *pager) add(list *[]byte, item any) {
	raw, err := json.Marshal(item)
	if err != nil {
		p.err = err
		return
	}
	if pg := p.last(); pg.n+len(raw)+1 > pageSize && len(pg.remove)+len(pg.upsert) > 0 {
		isUpsert := list == &pg.upsert
		p.begin(0)
		if list = &p.last().remove; isUpsert {
			list = &p.last().upsert
		}
	}
	if len(*list) > 0 {
		*list = append(*list, ',')
	}
	*list = append(*list, raw...)
	p.last().n += len(raw) + 1
}

// with completes the message that starts with head, a JSON object.
func (p *page) with(head []byte) []byte {
	out := make([]byte, 0, len(head)+p.n+32)
	out = append(out, head[:len(head)-1]...)
	if len(p.remove) > 0 {
		out = append(append(append(out, `,"remove":[`...), p.remove...), ']')
	}
	if len(p.upsert) > 0 {
		out = append(append(append(out, `,"upsert":[`...), p.upsert...), ']')
	}
	return append(out, '}')
}

// more sends pages until window of them are in flight. It returns false if the first one was not accepted. Called with
// the place's mu held.
func (s *Service) more(b *peer) bool {
	first := b.out
	for b.out < min(len(b.sent.pages), b.got+window) {
		if !s.cfg.Line.Push(b.id, b.epoch, b.sent.pages[b.out]) {
			break
		}
		b.out++
	}
	return b.out > first
}

// Paged handles a board's report that it has the first page pages of the change to a revision; the next ones follow.
// wrong names the field that can't be true, "" = none.
func (s *Service) Paged(boardID string, epoch, revision int64, page int) (wrong string) {
	b := s.peer(boardID, epoch)
	if b == nil {
		return ""
	}
	b.place.mu.Lock()
	defer b.place.mu.Unlock()
	switch {
	case revision > b.sentTo:
		s.count.Impossible.Add(1)
		return "revision"
	case b.waiting && revision == b.sent.to && page > b.out:
		s.count.Impossible.Add(1)
		return "page"
	case !b.waiting || revision != b.sent.to || s.closed.Load():
	case page < b.got: // it lost some: sent again when its time comes
		b.got, b.out = page, page
	case page > b.got: // deadlines follow progress
		b.got, b.tries, b.sentAt = page, 0, s.cfg.Clock.Now()
		b.pace.page = max(b.pace.page, page)
		s.more(b)
	}
	return ""
}

// keepFor is how long a snapshot is kept for a board whose connection ended in the middle of it. near is how far the
// place may have moved on while a snapshot is still shared: boards that connect at different revisions don't get one
// each.
const (
	keepFor = 2 * time.Minute
	near    = 512
)

// snapshot is the place's whole content: one that is being sent to others or that a board holds pages of, if it isn't
// older than floor, else a new one. Called with mu held.
func (p *target) snapshot(c Content, floor int64, now time.Time) (made, error) {
	if len(p.snap.pages) > 0 && p.snap.to >= floor && p.revision()-p.snap.to <= near {
		p.snapAt = now
		return p.snap, nil
	}
	y, err := c.SyncContent(p.id, 0)
	if err != nil {
		return made{}, err
	}
	m, err := encode(y)
	if err != nil {
		return made{}, err
	}
	p.snap, p.snapAt = m, now
	p.sum = made{to: m.to, digest: m.digest}
	return m, nil
}

// floor is the lowest revision of a snapshot that the board may be sent: an older one would bring back what has been
// revoked since, and a board that got more on this connection refuses it, see SYNC-2. Called with mu held.
func (b *peer) floor() int64 {
	if b.applied > b.place.revision() { // not ours: whatever we send is newer
		return b.sentTo
	}
	return max(b.applied, b.sentTo)
}

// expire drops a snapshot that no board came back for. Called with mu held.
func (p *target) expire(now time.Time) {
	if p.snaps == 0 && len(p.snap.pages) > 0 && now.Sub(p.snapAt) >= keepFor {
		p.snap = made{}
	}
}

// resumed is how many pages of m the board holds.
func (b *peer) resumed(m made) int {
	if h := b.partial; h != nil && m.snapshot && h.To == m.to && h.Digest == m.digest && h.Page < len(m.pages) {
		return h.Page
	}
	return 0
}
