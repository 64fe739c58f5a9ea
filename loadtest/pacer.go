package loadtest

import (
	"time"

	"github.com/doorlab/doorlab/internal/clock"
)

// pacer lets vegeta follow a schedule, and remembers when it began: vegeta
// does not tell. Only the attack's own goroutine calls it, before each tick,
// so whoever holds a result may read began.
type pacer struct {
	*schedule
	began time.Time
}

// Pace implements vegeta.Pacer.
func (p *pacer) Pace(elapsed time.Duration, hits uint64) (time.Duration, bool) {
	if p.began.IsZero() {
		p.began = clock.WallNow().Add(-elapsed)
	}
	if int64(hits) >= p.total {
		return 0, true
	}
	return p.at(int64(hits)) - elapsed, false
}

// Rate implements vegeta.Pacer.
func (p *pacer) Rate(elapsed time.Duration) float64 { return p.rate(elapsed.Seconds()) }

// due is the intended moment of hit seq.
func (p *pacer) due(seq uint64) time.Time { return p.began.Add(p.at(int64(seq))) }
