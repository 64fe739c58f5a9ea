package command

import (
	"errors"
	"sync"
	"sync/atomic"
)

// settleAtOnce is how many intents a start settles at once: the ledger makes one
// commit of them. A few are settled one after the other.
const (
	settleAtOnce = 512
	few          = 8
)

// Recover settles the intents that the previous run of the server left without
// an outcome as noResponse, their records included, and returns how many.
// Nothing is sent again [CMD-6]. From here on keys age from where they were.
func (s *Service) Recover() (int, error) {
	newest, err := s.cfg.Ledger.Newest()
	if err != nil {
		return 0, err
	}
	s.age = newAge(s.cfg.Clock, newest)
	list, err := s.cfg.Ledger.Unsettled()
	if err != nil {
		return 0, err
	}
	workers := settleAtOnce
	if len(list) <= few {
		workers = 1
	}
	var wg sync.WaitGroup
	var next, done atomic.Int64
	errs := make([]error, workers)
	for w := range workers {
		wg.Go(func() {
			for errs[w] == nil {
				i := next.Add(1) - 1
				if i >= int64(len(list)) {
					return
				}
				if _, errs[w] = s.abandon(list[i]); errs[w] == nil {
					done.Add(1)
				}
			}
		})
	}
	wg.Wait()
	return int(done.Load()), errors.Join(errs...)
}

// abandon settles an intent whose outcome nobody will ever know: the answer is
// the 504 that was committed with it.
func (s *Service) abandon(in Intent) (Answer, error) {
	st := Settlement{Intent: in, Outcome: NoResponse, Status: in.Status, Body: in.Body}
	if err := s.cfg.Ledger.Settle(st); err != nil {
		return Answer{}, err
	}
	s.count.recovered.Add(1)
	return Answer{Status: in.Status, Body: in.Body, Result: Result{CommandID: in.CommandID, DoorID: in.DoorID, Command: in.Command,
		Outcome: NoResponse, TimeoutMs: s.cfg.Wait.Milliseconds(), RequestedAt: in.RequestedAt}}, nil
}
