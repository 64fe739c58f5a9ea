package boardsync

import (
	"time"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/plant"
)

// push sends what a board lacks, if anything. Called with the place's mu held.
func (s *Service) push(b *peer) {
	p := b.place
	if s.closed.Load() || !p.peers[b] || p.revision() == 0 {
		return
	}
	from := b.applied
	if b.whole || from > p.revision() { // it has what we never had
		from = 0
	}
	if from > 0 && from == p.revision() && (b.digest == "" || s.agrees(b)) {
		return
	}
	m, err := p.change(s.cfg.Content, from)
	if err != nil {
		s.cfg.Log.Warn("sync content", "place", p.id, "error", err) // the next tick tries again
		return
	}
	if !s.cfg.Line.Push(b.id, b.epoch, m.payload) {
		return
	}
	if m.snapshot {
		s.count.Snapshots.Add(1)
	} else {
		s.count.Deltas.Add(1)
	}
	b.waiting, b.sent, b.from, b.sentAt = true, m, from, s.cfg.Clock.Now()
}

// agrees reports whether the digest that a board names at the current revision
// is the content's; a snapshot comes next when it is not.
func (s *Service) agrees(b *peer) bool {
	m, err := b.place.change(s.cfg.Content, b.applied)
	if err != nil || m.to != b.applied || m.digest == b.digest {
		return true // what cannot be compared now is compared at the next digest
	}
	if plant.Is("revocation-lost") {
		return true
	}
	s.count.Repairs.Add(1)
	b.whole = true
	return false
}

// Acked takes a board's word that it has applied and persisted a revision.
func (s *Service) Acked(boardID string, epoch, revision int64, digest string) {
	b := s.peer(boardID, epoch)
	if b == nil {
		return
	}
	now := s.cfg.Clock.Now()
	p := b.place
	p.mu.Lock()
	defer p.mu.Unlock()
	s.cfg.History(history.Event{Kind: history.Applied, At: now.UnixMilli(), BoardID: boardID, PlaceID: p.id, Revision: revision, Digest: digest})
	s.applied(b, revision, digest, now)
}

// applied notes a revision and sends what is still missing. Called with the place's mu held.
func (s *Service) applied(b *peer, revision int64, digest string, now time.Time) {
	if b.waiting && revision >= b.sent.to {
		b.waiting, b.tries = false, 0
		b.whole = b.whole && !b.sent.snapshot
		if revision == b.sent.to && digest != "" && digest != b.sent.digest && !plant.Is("revocation-lost") {
			s.count.Repairs.Add(1)
			if b.sent.snapshot { // it cannot hold the content: not at once, or it would go round for ever
				b.waiting, b.tries = true, b.tries+1
			}
			b.whole = true
		}
	}
	if revision > b.applied {
		s.measure(b, now)
	}
	b.applied, b.digest = revision, digest
	s.cfg.Line.Applied(b.id, revision, digest, now)
	if !b.waiting {
		s.push(b)
	}
}

// measure observes how long the oldest change that was missing took.
func (s *Service) measure(b *peer, now time.Time) {
	at, ok := b.place.committed(b.applied)
	switch {
	case !ok || at.Before(b.hello):
		s.cfg.Observe(true, now.Sub(b.hello))
	default:
		s.cfg.Observe(false, now.Sub(at))
	}
}

// Digest compares a board's content with the place's; what differs is repaired.
func (s *Service) Digest(boardID string, epoch, revision int64, digest string) (equal bool) {
	b := s.peer(boardID, epoch)
	if b == nil {
		return false
	}
	now := s.cfg.Clock.Now()
	p := b.place
	p.mu.Lock()
	defer p.mu.Unlock()
	if b.waiting {
		switch {
		case revision == b.sent.to: // its acknowledgement was lost
			s.applied(b, revision, digest, now)
			return !b.waiting && !b.whole
		case revision == b.from && now.Sub(b.sentAt) < s.cfg.Resend: // under way
			return false
		}
		b.waiting = false // it could not be applied to what the board has
	}
	if revision != b.applied {
		s.cfg.Line.Applied(b.id, revision, digest, now)
	}
	b.applied, b.digest = revision, digest
	s.push(b)
	return !b.waiting
}

// resend sends again what was not acknowledged in time, with back-off, and what
// could not be sent before. Housekeeping: over a jump it runs once.
func (s *Service) resend() {
	now := s.cfg.Clock.Now()
	s.mu.Lock()
	due := make([]*peer, 0, 16)
	for _, b := range s.boards {
		due = append(due, b)
	}
	s.mu.Unlock()
	for _, b := range due {
		b.place.mu.Lock()
		switch {
		case !b.waiting:
			if b.applied != b.place.revision() && !b.place.planned.Load() {
				s.push(b)
			}
		case now.Sub(b.sentAt) >= min(s.cfg.Resend<<min(b.tries, 10), s.cfg.ResendMax):
			b.tries++
			s.count.Resends.Add(1)
			s.push(b)
		}
		b.place.mu.Unlock()
	}
}
