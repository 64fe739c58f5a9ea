package record

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
)

// slowArchive takes its time over the audit log, and has nothing old elsewhere.
type slowArchive struct {
	clk    clock.Clock
	gate   chan struct{}
	audits []time.Time // when each look at the audit log began
}

func (*slowArchive) Age() error                                      { return nil }
func (*slowArchive) ForgetRecords(time.Duration, int) (int, error)   { return 0, nil }
func (*slowArchive) ForgetEvents(time.Duration, int) (int, error)    { return 0, nil }
func (*slowArchive) ForgetRevisions(time.Duration, int) (int, error) { return 0, nil }
func (*slowArchive) ForgetGrants(time.Duration, int) (int, error)    { return 0, nil }
func (a *slowArchive) ForgetAudits(time.Duration, int) (int, error) {
	a.audits = append(a.audits, a.clk.Now())
	<-a.gate
	return 0, nil
}

// TestSweepsAgainAtOnce: what became old while a sweep was waiting for the disk
// goes although the clock stands still afterwards.
func TestSweepsAgainAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
		clk := clock.NewVirtual(start, nil)
		clk.Freeze()
		a := &slowArchive{clk: clk, gate: make(chan struct{})}
		s := NewSweeper(a, clk, Retention{})
		for _, to := range []time.Duration{time.Hour, 2 * time.Hour, 72 * time.Hour} {
			if err := clk.Advance(start.Add(to)); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		close(a.gate)
		synctest.Wait()
		if len(a.audits) != 2 || !a.audits[1].Equal(start.Add(72*time.Hour)) {
			t.Errorf("looked at %v, want an hour after the start and, once that was over, after 72 h", a.audits)
		}
		s.Stop()
	})
}
