package boardsim

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/doorlab/doorlab/internal/world"
)

// Response times of boards in test places that specify none; those in live places are in world.
const testLow, testHigh = 20 * time.Millisecond, 80 * time.Millisecond

// latency is how long a board takes to report, in wall time: uniform between low and high, or log-normal by median and
// 99th percentile.
type latency struct {
	low, high time.Duration
	mu, sigma float64
}

func latencyOf(p *world.Place) latency {
	if p.Kind == world.Test && p.Report == nil {
		return latency{low: testLow, high: testHigh}
	}
	r := p.Reports()
	const z99 = 2.3263478740408408
	return latency{mu: math.Log(float64(r.P50)), sigma: math.Log(float64(r.P99)/float64(r.P50)) / z99}
}

func (l latency) draw(r *rand.Rand) time.Duration {
	if l.high > 0 {
		return l.low + time.Duration(r.Int64N(int64(l.high-l.low)+1))
	}
	return time.Duration(math.Exp(l.mu + l.sigma*r.NormFloat64()))
}

func msTime(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
