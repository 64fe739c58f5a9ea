package boardsim

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/doorlab/doorlab/internal/world"
)

// Response times of boards that specify none.
const (
	testLow, testHigh = 20 * time.Millisecond, 80 * time.Millisecond
	liveP50, liveP99  = 80 * time.Millisecond, 400 * time.Millisecond
)

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
	p50, p99 := liveP50, liveP99
	if p.Report != nil && p.Report.P50 > 0 {
		p50, p99 = p.Report.P50, max(p.Report.P99, p.Report.P50)
	}
	const z99 = 2.3263478740408408
	return latency{mu: math.Log(float64(p50)), sigma: math.Log(float64(p99)/float64(p50)) / z99}
}

func (l latency) draw(r *rand.Rand) time.Duration {
	if l.high > 0 {
		return l.low + time.Duration(r.Int64N(int64(l.high-l.low)+1))
	}
	return time.Duration(math.Exp(l.mu + l.sigma*r.NormFloat64()))
}

func msTime(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
