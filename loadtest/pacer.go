package loadtest

import (
	"context"
	"time"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/clock"
)

// pacer lets vegeta follow a schedule, and remembers when it began: vegeta
// does not tell. Only the attack's own goroutine calls it, before each tick,
// so any holder of a result may read began.
type pacer struct {
	*schedule
	ctx   context.Context // ends the waiting
	began time.Time
}

// long is what the pacer waits for by itself, as vegeta's own wait cannot be interrupted.
const long = 200 * time.Millisecond

// Pace implements vegeta.Pacer.
func (p *pacer) Pace(elapsed time.Duration, hits uint64) (time.Duration, bool) {
	if p.began.IsZero() {
		p.began = clock.WallNow().Add(-elapsed)
	}
	if int64(hits) >= p.total || p.ctx.Err() != nil { // vegeta itself takes a while to notice that it was stopped
		return 0, true
	}
	wait := p.at(int64(hits)) - elapsed
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

// due is the intended moment of hit seq.
func (p *pacer) due(seq uint64) time.Time { return p.began.Add(p.at(int64(seq))) }
