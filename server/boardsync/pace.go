package boardsync

import "time"

// pace limits how often a board is sent repeats and snapshots. It outlives connections, so no board can demand more of
// them by its hellos, acknowledgements or digests.
type pace struct {
	to    int64 // the highest revision that was sent
	page  int   // pages of a snapshot that the board has
	began int   // value of page when a connection last resumed a snapshot
	count int   // repeats and snapshots, since the last quiet time
	last  time.Time
}

// free is how many repeats go out without delay; each later one waits twice as long as the one before, up to ResendMax.
// After quiet times ResendMax without a repeat, counting starts over.
const (
	free  = 3
	quiet = 5
)

// patient reports whether a change from a revision (0 = a snapshot) may be sent to the board now; if not, resend asks
// again later.
func (s *Service) patient(b *peer, from int64) bool {
	p, now := b.pace, s.cfg.Clock.Now()
	since := now.Sub(p.last)
	if since >= quiet*s.cfg.ResendMax {
		p.count = 0
	}
	if b.again || b.partial != nil && from == 0 && p.page > p.began || p.count < free || from > 0 && b.place.revision() > p.to {
		return true
	}
	if since >= s.interval(p) {
		return true
	}
	s.count.Delayed.Add(1)
	return false
}

// interval is how long after the last repeat the next may go out.
func (s *Service) interval(p *pace) time.Duration {
	if p.count < free {
		return 0
	}
	return min(s.cfg.Resend<<min(p.count-free, 10), s.cfg.ResendMax)
}

// paced counts a send. resend has its own back-off, and resuming a snapshot after a lost connection doesn't count as a
// repeat if pages have arrived since the last time.
func (s *Service) paced(b *peer, m made) {
	p := b.pace
	switch {
	case b.again, !m.snapshot && m.to > p.to:
	case m.snapshot && b.got > 0 && p.page > p.began:
		p.began = p.page
	default:
		p.count++
		p.last = s.cfg.Clock.Now()
	}
	if m.snapshot && b.got == 0 {
		p.page, p.began = 0, 0
	}
	p.to = max(p.to, m.to)
	b.sentTo = max(b.sentTo, m.to)
}
