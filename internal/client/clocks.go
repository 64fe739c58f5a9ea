package client

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/history"
)

// Meter measures how far the clocks of control listeners in other processes are off from ours, before and after a run.
type Meter struct {
	sources []Client
	before  []reading
}

// reading is one measurement of one clock: the sample with the shortest round trip.
type reading struct {
	offset, err int64 // ns
	real        bool  // domain time is the machine's
	set         int64 // ns by which the machine's clock was set since the process started, if real
	why         error // why there is no measurement
}

const (
	samples     = 8
	patience    = 2 * time.Second  // for better samples than history.FineNs
	endurance   = 20 * time.Second // the same, while it is worse than rough: guarantees would be INVALID for it
	rough       = 2e6              // ns
	sampleLimit = 5 * time.Second  // of one
	leastSet    = 10e6             // ns; what is less is the time between two readings, and a time cut to milliseconds
	// A clock known less exactly than mostErr counts as unknown.
	mostErr = time.Second
)

var (
	errNoStamp = errors.New("it sends no wallNs; it may be an older doorlab")
	errTooSlow = errors.New("its answers take too long")
)

// MeasureClocks starts a measurement; call its End after the run.
func MeasureClocks(ctx context.Context, sources []Client) *Meter {
	m := &Meter{sources: sources}
	m.before = m.read(ctx)
	return m
}

// End measures again. A clock that couldn't be measured both times is left out.
func (m *Meter) End(ctx context.Context) history.Clocks {
	var out history.Clocks
	for i, after := range m.read(ctx) {
		out = append(out, between(m.sources[i].Base, m.before[i], after))
	}
	return out
}

// between combines the measurements before and after a run: the offset lay between the extremes that either allows, so
// drift widens the uncertainty.
func between(source string, before, after reading) history.Clock {
	c := history.Clock{Source: source, Real: before.real && after.real, SetNs: after.set}
	least := min(before.offset-before.err, after.offset-after.err)
	most := max(before.offset+before.err, after.offset+after.err)
	switch err := (most - least + 1) / 2; {
	case before.why != nil:
		c.Why = before.why.Error()
	case after.why != nil:
		c.Why = after.why.Error()
	case err > int64(mostErr):
		c.Why = errTooSlow.Error()
	default:
		c.Measured, c.OffsetNs, c.ErrNs, c.DriftNs = true, least+err, err, after.offset-before.offset
	}
	return c
}

func (m *Meter) read(ctx context.Context) []reading {
	out := make([]reading, len(m.sources))
	for i, c := range m.sources {
		out[i] = c.reading(ctx)
	}
	return out
}

// reading is the best of several samples; after one that failed it takes no more. On a busy machine it continues until
// one came through undisturbed. Where many samples of two seconds are about as good as the best, it is the way that is
// long: more wouldn't help.
func (c Client) reading(ctx context.Context) (best reading) {
	began := clock.Mono()
	var took []int64
	for {
		r := c.sample(ctx)
		switch {
		case r.why != nil && len(took) == 0:
			return r
		case r.why != nil:
			return best
		case len(took) == 0 || r.err < best.err:
			best = r
		}
		took = append(took, r.err)
		if len(took) >= samples && enough(best.err, clock.Mono()-began, took) {
			return best
		}
	}
}

// enough reports whether more samples are not worth their time.
func enough(best int64, spent time.Duration, took []int64) bool {
	switch {
	case best <= history.FineNs, spent > endurance, best <= rough && spent > patience:
		return true
	case spent <= patience:
		return false
	}
	alike := 0
	for _, ns := range took {
		if ns <= best+best/4 {
			alike++
		}
	}
	return alike >= samples
}

// sample asks once. The clock was read at some time between request and answer: assume the middle, give or take half
// the round trip.
func (c Client) sample(ctx context.Context) reading {
	ctx, cancel := context.WithTimeout(ctx, sampleLimit)
	defer cancel()
	var told struct {
		Now    time.Time
		Mode   string
		WallNs int64
	}
	sent, began := clock.WallNow(), clock.Mono()
	err := c.Do(ctx, http.MethodGet, control.Prefix+"/clock?stamp=true", nil, &told)
	half := (clock.Mono() - began + 1) / 2
	switch {
	case err != nil:
		return reading{why: err}
	case told.WallNs == 0:
		return reading{why: errNoStamp}
	}
	r := reading{offset: told.WallNs - sent.Add(half).UnixNano(), err: max(int64(half), 1), real: told.Mode == "real"}
	if set := told.Now.UnixNano() - told.WallNs; r.real && (set > leastSet || set < -leastSet) {
		r.set = set
	}
	return r
}
