package command

import (
	"sync/atomic"

	"github.com/doorlab/doorlab/internal/vocab"
)

type counters struct {
	started, joined, replayed, reused, tooMany, recovered, withdrawn atomic.Int64
	reported, offline, refused, noResponse                           atomic.Int64
	late, unknown, foreign, garbage                                  atomic.Int64
}

func (c *counters) outcome(o vocab.Outcome) {
	switch o {
	case vocab.Reported:
		c.reported.Add(1)
	case vocab.Offline:
		c.offline.Add(1)
	case vocab.Refused:
		c.refused.Add(1)
	case vocab.NoResponse:
		c.noResponse.Add(1)
	}
}

// Counts is what the service has done since it started.
type Counts struct {
	Running   int64 // now
	Started   int64 // calls that claimed or tried to
	Joined    int64 // callers that got a running call's answer
	Replayed  int64 // answers from the ledger
	Reused    int64 // keys used for another request
	TooMany   int64
	Recovered int64 // intents settled as 504 without an outcome of their own
	Withdrawn int64 // claims that became durable too late to be sent

	Reported, Offline, Refused, NoResponse int64

	LateReports    int64 // settled the record of a 504
	UnknownReports int64 // named no command
	ForeignReports int64 // named another board's or door's command
	GarbageReports int64 // made no sense
}

// Snapshot reads the counters.
func (s *Service) Snapshot() Counts {
	s.mu.Lock()
	running := int64(s.running)
	s.mu.Unlock()
	c := &s.count
	return Counts{Running: running, Started: c.started.Load(), Joined: c.joined.Load(), Replayed: c.replayed.Load(), Reused: c.reused.Load(),
		TooMany: c.tooMany.Load(), Recovered: c.recovered.Load(), Withdrawn: c.withdrawn.Load(), Reported: c.reported.Load(), Offline: c.offline.Load(),
		Refused: c.refused.Load(), NoResponse: c.noResponse.Load(), LateReports: c.late.Load(), UnknownReports: c.unknown.Load(),
		ForeignReports: c.foreign.Load(), GarbageReports: c.garbage.Load()}
}
