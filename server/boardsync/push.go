package boardsync

import (
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/history"
)

// push sends what a board lacks, if anything; resend tries again what could not be read or sent. Called with the
// place's mu held.
func (s *Service) push(b *peer) {
	p := b.place
	if s.closed.Load() || !p.peers[b] {
		return
	}
	defer func() { s.plan(s.due(b)) }()
	if !s.known(b) {
		return
	}
	from, rev := b.applied, p.revision()
	s.ahead(b, rev)
	if from == rev && !b.whole && !b.agreed && !s.compare(b) {
		return
	}
	if from == rev && b.agreed {
		return
	}
	if b.whole || from > rev || rev-from > maxBehind { // it claims a revision we never had, or lacks too much
		from = 0
	}
	if !s.patient(b, from) {
		return
	}
	now := s.cfg.Clock.Now()
	m, err := p.change(s.cfg.Content, from, b.floor(), now)
	if err != nil {
		s.failed(b, err)
		return
	}
	b.fails = 0
	if b.wait(m, from, b.resumed(m), now); !s.more(b) {
		b.done()
		return
	}
	if m.snapshot {
		s.count.Snapshots.Add(1)
	} else {
		s.count.Deltas.Add(1)
	}
	s.paced(b, m)
}

// ahead says, once per place, that a board has more than the place ever had as far as the database knows: what it lost was
// answered to somebody.
func (s *Service) ahead(b *peer, rev int64) {
	if p := b.place; b.applied > rev && !p.lost {
		p.lost = true
		s.cfg.Log.Warn("synchronization: a board has a later revision than the database, which was restored from a backup or has lost its last changes, unless the board was used elsewhere; it gets the database's content",
			"board", b.id, "place", p.id, "revision", b.applied, "database", rev)
	}
}

// known makes sure that the place's revision has been read: a board must not count as up to date against an unknown
// one.
func (s *Service) known(b *peer) bool {
	if s.cfg.Clock.Now().Before(b.retryAt) {
		return false
	}
	if b.fails > 0 {
		s.count.Retries.Add(1)
	}
	if b.unread {
		rev, err := s.cfg.Content.Revision(b.place.id)
		if err != nil {
			s.failed(b, err)
			return false
		}
		b.place.atLeast(rev)
		b.unread = false
	}
	return b.place.revision() > 0
}

// compare checks a board's digest at the current revision against the content's; if they differ, a snapshot comes next.
// ok is false if that can't be checked now.
func (s *Service) compare(b *peer) (ok bool) {
	if b.digest == "" { // a simple board: only the revision counts
		b.agreed = true
		return true
	}
	rev, digest, err := b.place.digest(s.cfg.Content)
	if err != nil {
		s.failed(b, err)
		return false
	}
	b.fails = 0
	if rev != b.applied { // it has just moved on: a delta follows
		return true
	}
	if b.agreed = digest == b.digest; !b.agreed {
		s.count.Repairs.Add(1)
		b.whole = true
	}
	return true
}

// warnEvery is how often failed look-ups are in the log, for all boards together: they all read the same database.
const warnEvery = time.Minute

// failed puts off the next look-up.
func (s *Service) failed(b *peer, err error) {
	s.count.ReadFailures.Add(1)
	b.retryAt = s.cfg.Clock.Now().Add(min(s.cfg.Resend<<min(b.fails, 10), s.cfg.ResendMax))
	b.fails++
	if now, last := int64(clock.Mono()), s.warned.Load(); (last == 0 || now-last >= int64(warnEvery)) && s.warned.CompareAndSwap(last, now) {
		s.cfg.Log.Warn("synchronization: content could not be read", "board", b.id, "place", b.place.id, "error", err, "total", s.count.ReadFailures.Load())
	}
}

// equal reports whether the board is known to have the place's content.
func (s *Service) equal(b *peer) bool {
	p := b.place
	return !s.closed.Load() && p.peers[b] && !b.unread && !b.waiting && !b.whole && b.agreed && b.applied == p.revision()
}

// note tells the line which revision the board is known to have: 0 if its content differs from the server's at that
// revision, or could not be compared.
func (s *Service) note(b *peer, now time.Time, applied bool) {
	rev, digest := b.applied, b.digest
	if b.unread || b.whole || !b.agreed && rev >= b.place.revision() {
		rev, digest = 0, ""
	}
	if applied || s.cfg.Line.Status(b.id).AppliedRevision != rev {
		s.cfg.Line.Applied(b.id, rev, digest, now)
	}
}

// neverSent counts a revision that the board can't have, because we never sent it, and reports whether it is one:
// whatever the board has then isn't ours. Called with the place's mu held.
func (s *Service) neverSent(b *peer, revision int64) bool {
	if revision <= max(b.applied, b.sentTo) {
		return false
	}
	s.count.Impossible.Add(1)
	b.whole, b.agreed = true, false
	return true
}

// Acked handles a board's report that it has applied and persisted a revision. wrong names the field that can't be true,
// "" = none.
func (s *Service) Acked(boardID string, epoch, revision int64, digest string) (wrong string) {
	b := s.peer(boardID, epoch)
	if b == nil {
		return ""
	}
	now := s.cfg.Clock.Now()
	p := b.place
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.neverSent(b, revision) {
		wrong = "revision"
	} else {
		s.cfg.History(history.Event{Kind: history.Applied, At: now.UnixMilli(), BoardID: boardID, PlaceID: p.id, Revision: revision, Digest: digest})
		s.applied(b, revision, digest, now)
	}
	if !b.waiting && (b.whole || !p.planned.Load()) { // else a planned push sends this board what came meanwhile, with all others
		s.push(b)
	}
	s.note(b, now, b.agreed)
	return wrong
}

// applied notes a revision. Called with the place's mu held.
func (s *Service) applied(b *peer, revision int64, digest string, now time.Time) {
	switch {
	case b.waiting && revision == b.sent.to:
		b.agreed = digest == "" || digest == b.sent.digest
		b.whole = !b.agreed
		if b.whole {
			s.count.Repairs.Add(1)
		}
		b.got = 0 // no board will resume it
		b.done()
		b.partial, b.tries = nil, 0
	case b.waiting && revision < b.applied: // a repeat of an old one
		return
	default:
		b.agreed = false
	}
	if revision > b.applied {
		since, hello := b.place.missing(b)
		s.cfg.Observe(hello, now.Sub(since))
	}
	b.applied, b.digest = revision, digest
}

// Digest compares a board's content with the place's and repairs differences. It returns equal only if revision and
// digest could be read and match the place's. wrong names the field that can't be true, "" = none.
func (s *Service) Digest(boardID string, epoch, revision int64, digest string) (equal bool, wrong string) {
	b := s.peer(boardID, epoch)
	if b == nil {
		return false, ""
	}
	now := s.cfg.Clock.Now()
	p := b.place
	p.mu.Lock()
	defer p.mu.Unlock()
	known := b.applied
	switch {
	case s.neverSent(b, revision):
		wrong = "revision"
		if b.waiting { // what is on its way will show what the board has
			s.note(b, now, false)
			return false, wrong
		}
	case b.waiting && revision == b.sent.to: // its acknowledgement was lost
		s.applied(b, revision, digest, now)
	case b.waiting && (b.sent.snapshot || revision == b.from) && now.Sub(b.sentAt) < s.patience(b): // still on its way
		return false, ""
	default: // what was sent could not be applied to what the board has
		b.done()
		b.tries = 0
		b.applied, b.digest, b.agreed, b.whole = revision, digest, false, false
	}
	s.push(b)
	if b.agreed && revision > known { // this replaces the acknowledgement that was lost
		s.cfg.History(history.Event{Kind: history.Applied, At: now.UnixMilli(), BoardID: boardID, PlaceID: p.id, Revision: revision, Digest: digest})
	}
	s.note(b, now, false)
	return s.equal(b), wrong
}

// patience is how long to wait for an acknowledgement.
func (s *Service) patience(b *peer) time.Duration {
	return min(s.cfg.Resend<<min(b.tries, 10), s.cfg.ResendMax)
}

// resend sends again, with back-off, what was not acknowledged in time, and what could not be read or sent before. It
// runs when the first of it is due, and once per Config.Resend.
func (s *Service) resend() {
	now := s.cfg.Clock.Now()
	for _, p := range s.everyPlace() {
		p.mu.Lock()
		p.expire(now)
		p.mu.Unlock()
	}
	var next time.Time
	for _, b := range s.connected() {
		b.place.mu.Lock()
		switch {
		case !b.waiting:
			if !s.equal(b) && !b.place.planned.Load() {
				s.push(b)
				s.note(b, now, false)
			}
		case now.Sub(b.sentAt) >= s.patience(b):
			b.tries++
			s.count.Resends.Add(1)
			if len(b.sent.pages) > 1 { // the missing pages of the same change
				b.out, b.sentAt = b.got, now
				s.more(b)
				break
			}
			b.again = true
			s.push(b) // [SYNC-1] [SYNC-2] until it is acknowledged
			b.again = false
		}
		if t := s.due(b); next.IsZero() || !t.IsZero() && t.Before(next) {
			next = t
		}
		b.place.mu.Unlock()
	}
	s.plan(next)
}
