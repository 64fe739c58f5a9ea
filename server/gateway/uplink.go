package gateway

import (
	"cmp"
	"sync/atomic"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/board"
)

// handle carries out one uplink, on the board's worker.
func (b *peer) handle(it item) {
	b.mu.Lock()
	greeted := b.cur == it.l
	b.mu.Unlock()
	if !greeted && it.channel != wire.UpHello { // before hello, or from a connection that was taken over
		b.drop(dropEarly, it.channel, "no hello", 1)
		return
	}
	var err error
	switch it.channel {
	case wire.UpHello:
		err = b.hello(it.l, it.payload)
	case wire.UpRpt:
		err = b.report(it.l, it.payload)
	case wire.UpAck:
		err = b.acked(it.l, it.payload)
	case wire.UpState:
		err = b.state(it.payload)
	case wire.UpRec:
		err = b.records(it.l, it.payload)
	case wire.UpDigest:
		err = b.digest(it.l, it.payload)
	case wire.UpPing:
		b.ack(it.l, wire.Ack{Type: wire.AckPing, Accepted: true})
	}
	if err != nil {
		b.drop(dropGarbage, it.channel, fieldOf(err), 1)
	}
}

// ack sends an acknowledgement; every one carries epoch and both times.
func (b *peer) ack(l *link, a wire.Ack) {
	a.Epoch, a.SessionMs, a.Time = l.epoch, clock.Mono().Milliseconds(), b.g.cfg.Clock.Now().UnixMilli()
	l.push(wire.DownAck, encode(a), nil)
}

// encode makes JSON of one of our own types.
func encode(v any) []byte {
	p, err := wire.Marshal(v)
	if err != nil {
		panic("gateway: " + err.Error())
	}
	return p
}

// hello opens an epoch: the board is acknowledged, then online, then synchronized. A second hello on a connection keeps
// its epoch.
func (b *peer) hello(l *link, payload []byte) error {
	g := b.g
	h, err := decodeHello(payload)
	if err != nil {
		g.count.Refused.Add(1)
		l.close(errProto)
		return err
	}
	if !b.remember() {
		l.close(errProto) // not remembered: the board tries again
		return nil
	}
	now := g.now()
	b.mu.Lock()
	if l.closed.Load() || b.main != l {
		b.mu.Unlock()
		return nil
	}
	old := b.cur
	fresh := l.epoch == 0
	if fresh {
		l.epoch = g.life<<32 | g.epochs.Add(1)
		b.contact = cmp.Or(b.st.UploadsSince, b.st.LastSeenAt, now) // records that it still buffered may be older
	}
	b.cur = l
	b.buffers(h.Buffered)
	b.st.LastSeenAt, b.st.Dropped = now, h.Dropped
	if !b.st.Online {
		b.st.Online, b.st.Since = true, now
	}
	by := board.ByState
	if fresh {
		by = board.ByHello
	}
	b.heard(by, h.At, h.Doors, now)
	if h.Netloss != nil {
		b.said(l, *h.Netloss)
	}
	if old == nil {
		g.count.Online.Add(1)
	} else if old != l {
		g.tell(b, history.Event{Kind: history.Offline, Epoch: old.epoch})
	}
	if fresh {
		g.tell(b, history.Event{Kind: history.Online, Epoch: l.epoch, Revision: h.Revision, OutageAgeMs: h.OutageAgeMs})
	}
	b.ack(l, wire.Ack{Type: wire.AckHello, Accepted: true}) // in the outbox before any command can be
	conn := board.Hello{BoardID: b.id, PlaceID: b.placeID, Epoch: l.epoch, Revision: h.Revision, Digest: h.Digest, Partial: h.Partial}
	b.mu.Unlock()
	g.count.Hellos.Add(1)
	g.sync.Connected(conn)
	g.save(b)
	return nil
}

// buffers notes how many records the board still has. Since when is stored with its state: after a restart the rest of an
// upload must not seem too old. Called with mu held.
func (b *peer) buffers(n int) {
	b.buffered, b.st.UploadsSince = n, time.Time{}
	if n > 0 {
		b.st.UploadsSince = b.contact
	}
}

// remember stores a board's first hello before the board is shown online, because a board never becomes unknown again.
func (b *peer) remember() bool {
	b.mu.Lock()
	st := b.st
	b.mu.Unlock()
	if !st.FirstSeenAt.IsZero() {
		return true
	}
	now := b.g.now()
	st.FirstSeenAt, st.Since, st.LastSeenAt = now, now, now
	if err := b.g.cfg.Store.SaveBoardStates([]board.State{st}); err != nil {
		b.unsaved("a board's first hello could not be saved", err)
		return false
	}
	b.mu.Lock()
	b.st.FirstSeenAt, b.st.Since = now, now
	b.mu.Unlock()
	return true
}

func (b *peer) report(l *link, payload []byte) error {
	g := b.g
	r, err := decodeReport(payload)
	if err != nil {
		return err
	}
	g.count.Reports.Add(1)
	o := b.order(r.CommandID)
	if r.Standing != nil {
		st := board.Heard{At: r.At, Report: true, Sent: o.at, Arrived: g.now()}.OnTime(*r.Standing)
		r.Standing = &st
	}
	received := history.Event{Kind: history.Received, Epoch: l.epoch, CommandID: r.CommandID, Result: r.Result, Reason: vocab.Reason(r.Code)}
	running := g.reports.Running(r.CommandID)
	if running { // before anything follows from it
		g.tell(b, received)
	}
	var refused atomic.Bool
	first := g.reports.Report(b.id, r, func(accepted bool) { // after the commit
		if accepted {
			b.stood(r.Standing, board.ByLate, o)
			b.answered(r.CommandID)
		} else {
			refused.Store(true)
			b.refusedReport(r)
		}
		b.ack(l, wire.Ack{Type: wire.AckRpt, CommandID: r.CommandID, Accepted: accepted})
	})
	if !running && !refused.Load() { // invented reports must not fill the history
		g.tell(b, received)
	}
	if first {
		b.stood(r.Standing, board.ByReport, o)
	}
	return nil
}

func (b *peer) acked(l *link, payload []byte) error {
	a, err := decodeAck(payload)
	if err != nil {
		return err
	}
	switch a.Type {
	case wire.SyncConfig:
		if field := misfit(a.Result, a.Code); field != "" { // neither stored nor refused: as if it hadn't answered
			b.drop(dropMisfit, wire.UpAck, field, 1)
			return nil
		}
		b.configured(a)
		return nil
	case wire.SyncPage:
		return untrue(b.g.sync.Paged(b.id, l.epoch, a.Revision, a.Page))
	}
	return untrue(b.g.sync.Acked(b.id, l.epoch, a.Revision, a.Digest))
}

// untrue is the error of a field that can't be true; nil without a name.
func untrue(name string) error { return ranges(field{name, name != ""}) }

func (b *peer) state(payload []byte) error {
	s, err := decode[wire.State](payload)
	if err != nil {
		return err
	}
	b.mu.Lock()
	b.heard(board.ByState, s.At, standings(s.Doors), b.g.now())
	b.mu.Unlock()
	b.g.save(b)
	return nil
}

func (b *peer) refusedReport(r wire.Report) {
	if field := misfit(r.Result, r.Code); field != "" {
		b.drop(dropMisfit, wire.UpRpt, field, 1)
		return
	}
	b.drop(dropUnknown, wire.UpRpt, "commandId", 1)
}

// records keeps a batch and acknowledges it after the commit, see OFF-4. What can never be kept is counted and
// acknowledged too, or the board would resend it forever.
func (b *peer) records(l *link, payload []byte) error {
	g := b.g
	batch, err := decodeRecords(payload)
	if err != nil {
		// The board must not get stuck on it: tell it how far the batch reaches, or that the batch is unreadable.
		upTo := lastSeq(payload)
		b.ack(l, wire.Ack{Type: wire.AckRec, Seq: upTo, Accepted: upTo > 0})
		return err
	}
	if len(batch.Records) == 0 {
		b.ack(l, wire.Ack{Type: wire.AckRec, Accepted: true})
		return nil
	}
	batch.Records = batch.Records[:min(len(batch.Records), maxRecords)] // the rest comes again
	upTo := batch.Records[len(batch.Records)-1].Seq
	b.mu.Lock()
	st := b.st
	st.LastSeenAt = b.contact
	room := b.quota.fill(time.Duration(g.now().UnixNano()))
	b.mu.Unlock()
	if room < float64(len(batch.Records)) {
		b.drop(dropQuota, wire.UpRec, "records", len(batch.Records))
		return nil // not acknowledged: they may come again later
	}
	kept, err := g.cfg.Records.Upload(st, batch.Records)
	if err != nil {
		b.unsaved("a board's records could not be saved; it sends them again", err)
		return nil // not acknowledged: they come again
	}
	g.count.Records.Add(int64(kept.Fresh))
	if kept.Bad > 0 {
		b.drop(dropRecord, wire.UpRec, "records", kept.Bad)
	}
	if kept.Uncredited > 0 {
		b.drop(dropCredit, wire.UpRec, "grantId", kept.Uncredited)
	}
	b.mu.Lock()
	b.quota.left -= float64(kept.Fresh)
	b.st.Dropped = max(b.st.Dropped, batch.Dropped)
	b.buffers(max(0, b.buffered-len(batch.Records)))
	b.mu.Unlock()
	b.ack(l, wire.Ack{Type: wire.AckRec, Seq: upTo, Accepted: true})
	return nil
}

func (b *peer) digest(l *link, payload []byte) error {
	d, err := decodeDigest(payload)
	if err != nil {
		return err
	}
	equal, wrong := b.g.sync.Digest(b.id, l.epoch, d.Revision, d.Digest)
	if equal {
		b.ack(l, wire.Ack{Type: wire.AckDigest, Accepted: true})
	}
	return untrue(wrong)
}
