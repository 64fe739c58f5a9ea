package command

import (
	"time"

	"github.com/doorlab/doorlab/internal/clock"
)

// How long to wait for the ledger, in wall time.
const (
	stopGrace  = 250 * time.Millisecond // for a commit in progress when the service stops
	retryFirst = 50 * time.Millisecond  // before the first retry of a write; doubles
	retryMost  = 2 * time.Second
)

// Stop answers all waiting callers now (504 if the command was sent, else ErrStopped), settles what it can, accepts no
// more commands, and returns when nothing is running.
func (s *Service) Stop() {
	s.end(false)
	s.runs.Wait()
	s.chore.Stop()
	s.crew.Close()
}

// Kill drops what the service has in memory, as the death of the process would: executions neither settle nor answer,
// callers get ErrStopped, reports are ignored. It doesn't wait; Stop does. The next service's Recover finds in the
// ledger what a real death would have left there.
func (s *Service) Kill() { s.end(true) }

func (s *Service) end(kill bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if kill && !s.killed {
		s.killed = true
		close(s.dead)
	}
	if s.stopped {
		return
	}
	s.stopped = true
	close(s.stop)
	s.chore.Cancel()
	if kill {
		return
	}
	for _, c := range s.byID {
		c.hurry()
	}
}

func (s *Service) isDead() bool {
	select {
	case <-s.dead:
		return true
	default:
		return false
	}
}

// persist repeats a write until it is durable; failed, unless nil, is called with every error. It returns false if the
// service stops first.
func (s *Service) persist(write func() error, failed func(error)) bool {
	err := write()
	for pause := retryFirst; err != nil; pause = min(2*pause, retryMost) {
		if failed != nil {
			failed(err)
		}
		if !s.pause(pause) {
			return false
		}
		err = write()
	}
	return true
}

// pause waits in wall time; false if the service stops.
func (s *Service) pause(d time.Duration) bool {
	over := make(chan struct{})
	defer clock.WallAfter(d, func() { close(over) }).Stop()
	select {
	case <-over:
		return true
	case <-s.stop:
		return false
	}
}
