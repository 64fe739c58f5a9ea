package record

import (
	"cmp"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
)

// Retention is how long things are kept, in domain time. Zero fields mean the
// defaults: 400 days for records (events with them), 90 days for the audit log,
// 400 days for grants after they ended.
type Retention struct{ Records, Audit, Grants time.Duration }

const day = 24 * time.Hour

// WithDefaults fills in what is zero.
func (r Retention) WithDefaults() Retention {
	return Retention{Records: cmp.Or(r.Records, 400*day), Audit: cmp.Or(r.Audit, 90*day), Grants: cmp.Or(r.Grants, 400*day)}
}

// Archive forgets what has been kept long enough, at most limit rows at a time (of a
// place, where it goes by place), and says how many went. Records, events and
// audit rows age from when they were written, grants from when they
// ended, all as package age says. server/store implements it.
type Archive interface {
	// Age looks at the machine's clock and saves how much time has passed.
	Age() error
	ForgetRecords(keep time.Duration, limit int) (int, error)
	ForgetEvents(keep time.Duration, limit int) (int, error)
	ForgetAudits(keep time.Duration, limit int) (int, error)
	ForgetGrants(keep time.Duration, limit int) (int, error)
}

// forgetBatch keeps deletions short: other writes commit in between.
const forgetBatch = 500

// Sweeper deletes what has been kept long enough, once an hour. Make one with NewSweeper.
type Sweeper struct {
	archive Archive
	keep    Retention
	chore   *clock.Chore
}

// NewSweeper starts a sweeper on a clock and its flight (nil = none); Stop ends it.
func NewSweeper(a Archive, clk clock.Clock, f *clock.Flight, keep Retention) *Sweeper {
	s := &Sweeper{archive: a, keep: keep.WithDefaults()}
	s.chore = clock.NewChore(clk, f, time.Hour, s.forget)
	return s
}

// Stop stops the sweeper after the batch in progress, and saves how much time has passed since the last hour.
func (s *Sweeper) Stop() {
	s.chore.Stop()
	_ = s.archive.Age() // on failure, at most an hour of ageing is lost
}

func (s *Sweeper) forget(stopped func() bool) {
	if s.archive.Age() != nil {
		return // the next hour tries again
	}
	for _, f := range []struct {
		forget func(time.Duration, int) (int, error)
		keep   time.Duration
	}{
		{s.archive.ForgetRecords, s.keep.Records}, {s.archive.ForgetEvents, s.keep.Records},
		{s.archive.ForgetAudits, s.keep.Audit}, {s.archive.ForgetGrants, s.keep.Grants},
	} {
		for n := forgetBatch; n == forgetBatch && !stopped(); {
			var err error
			if n, err = f.forget(f.keep, forgetBatch); err != nil {
				break // the next hour tries again
			}
		}
	}
}
