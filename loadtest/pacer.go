package loadtest

import (
	"context"
	"time"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/clock"
)

// pacer makes vegeta follow a schedule, and remembers when it began, because vegeta doesn't tell. Only the attack's own
// goroutine calls it, before each tick, so anyone who has a result may read began.
type pacer struct {
	*schedule
	ctx     context.Context // ends the waiting
	metrics *Metrics
	began   time.Time
}

// long is the longest wait left to vegeta, whose own waiting can't be interrupted; the pacer waits for the rest itself.
const long = 200 * time.Millisecond

// Pace implements vegeta.Pacer.
func (p *pacer) Pace(elapsed time.Duration, hits uint64) (time.Duration, bool) {
	if p.began.IsZero() {
		p.began = clock.WallNow().Add(-elapsed)
	}
	if int64(hits) >= p.total || p.ctx.Err() != nil { // vegeta itself notices a stop only after a while
		return 0, true
	}
	wait := p.at(int64(hits)) - elapsed
	p.metrics.planned.Set(p.rate((elapsed + max(wait, 0)/2).Seconds())) // in the middle of a pause, 0
	if wait > long {
		if client.Pause(p.ctx, wait-long/2) != nil {
			return 0, true
		}
		wait = p.due(hits).Sub(clock.WallNow())
	}
	return wait, false
}

// Rate implements vegeta.Pacer.
func (p *pacer) Rate(elapsed time.Duration) float64 { return p.rate(elapsed.Seconds()) }

// due is when hit seq should be sent.
func (p *pacer) due(seq uint64) time.Time { return p.began.Add(p.at(int64(seq))) }
