package command

import (
	"slices"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/vocab"
)

// settleAtOnce is how many intents are settled per commit at startup.
const settleAtOnce = 1024

// Recover settles the intents that the server's previous run left without an outcome as noResponse, with their records,
// and returns their number. Nothing is sent again, see CMD-6.
func (s *Service) Recover() (n int, err error) {
	list, err := s.cfg.Ledger.Unsettled()
	if err != nil {
		return 0, err
	}
	for part := range slices.Chunk(list, settleAtOnce) {
		if err := s.abandon(part...); err != nil { // [CMD-6] as 504; nothing is sent again
			return n, err
		}
		n += len(part)
	}
	return n, nil
}

// abandon settles intents whose outcome will never be known: their answer is the 504 that was committed with each.
func (s *Service) abandon(list ...Intent) error {
	ends := each.Of(list, func(in Intent) Settlement {
		return Settlement{Intent: in, Outcome: vocab.NoResponse, Status: in.Status, Body: in.Body}
	})
	if err := s.cfg.Ledger.Settle(ends...); err != nil {
		return err
	}
	s.count.Recovered.Add(int64(len(list)))
	return nil
}
