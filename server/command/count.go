package command

import (
	"sync/atomic"

	"github.com/doorlab/doorlab/internal/vocab"
)

// Counts is what the service has done since it started.
type Counts struct {
	Started   atomic.Int64 // calls that claimed or tried to
	Joined    atomic.Int64 // callers that got a running call's answer
	Replayed  atomic.Int64 // answers from the ledger
	Reused    atomic.Int64 // keys used for another request
	TooMany   atomic.Int64
	Recovered atomic.Int64 // intents settled as 504 without an outcome of their own
	Withdrawn atomic.Int64 // claims that became durable too late to be sent

	Reported, Offline, Refused, NoResponse atomic.Int64

	LateReports    atomic.Int64 // settled the record of a 504
	UnknownReports atomic.Int64 // named no command
	ForeignReports atomic.Int64 // named another board's or door's command
	GarbageReports atomic.Int64 // made no sense
}

func (c *Counts) outcome(o vocab.Outcome) {
	switch o {
	case vocab.Reported:
		c.Reported.Add(1)
	case vocab.Offline:
		c.Offline.Add(1)
	case vocab.Refused:
		c.Refused.Add(1)
	case vocab.NoResponse:
		c.NoResponse.Add(1)
	}
}

// Counts are the service's own counters.
func (s *Service) Counts() *Counts { return &s.count }

// InProgress is how many commands are being carried out.
func (s *Service) InProgress() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running
}
