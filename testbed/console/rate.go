package console

import (
	"slices"
	"time"
)

// rate counts what ended in the last ten seconds. The durations of the latest
// are enough for percentiles.
type rate struct {
	ended [4096]struct{ at, took time.Duration }
	n     int
	perS  [window + 1]struct{ second, count int64 }
}

const window = 10 // seconds

func (r *rate) add(at, took time.Duration) {
	r.ended[r.n%len(r.ended)] = struct{ at, took time.Duration }{at, took}
	r.n++
	s := int64(at / time.Second)
	b := &r.perS[s%int64(len(r.perS))]
	if b.second != s {
		b.second, b.count = s, 0
	}
	b.count++
}

// read is the rate over the last ten whole seconds, and the percentiles of what
// ended in them, below 0 where nothing did.
func (r *rate) read(now time.Duration) (perSecond float64, p50, p99 time.Duration) {
	this := int64(now / time.Second)
	var count int64
	for _, b := range r.perS {
		if b.second < this && b.second >= this-window {
			count += b.count
		}
	}
	var took []time.Duration
	for _, e := range r.ended[:min(r.n, len(r.ended))] {
		if now-e.at <= (window+1)*time.Second {
			took = append(took, e.took)
		}
	}
	if len(took) == 0 {
		return 0, -1, -1
	}
	slices.Sort(took)
	at := func(share float64) time.Duration { return took[int(share*float64(len(took)-1))] }
	return float64(count) / window, at(0.50), at(0.99)
}
