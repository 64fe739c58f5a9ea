package boardsim

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// polite is a client whose goodbye takes a while.
type polite struct {
	takes time.Duration
	said  *atomic.Int64
}

func (polite) Connect([]string) error { return nil }
func (polite) Publish(string, []byte) {}
func (p polite) Close()               { time.Sleep(p.takes); p.said.Add(1) }

// TestGoodbyesAreBounded: a fleet whose boards are quick to leave is waited for, one that takes longer isn't.
func TestGoodbyesAreBounded(t *testing.T) {
	t.Parallel()
	for takes, want := range map[time.Duration]time.Duration{
		100 * time.Millisecond: 300 * time.Millisecond, // three turns
		time.Minute:            farewell,
	} {
		synctest.Test(t, func(t *testing.T) {
			said, began := &atomic.Int64{}, time.Now()
			var leaving []*session
			for range 2*connecting + 1 {
				leaving = append(leaving, &session{client: polite{takes, said}})
			}
			goodbyes(leaving)
			if took := time.Since(began); took != want || takes < farewell && said.Load() != int64(len(leaving)) {
				t.Errorf("goodbyes of %s: %d said after %s, want to wait %s", takes, said.Load(), took, want)
			}
			time.Sleep(time.Hour) // the bubble's, until all are said
		})
	}
}
