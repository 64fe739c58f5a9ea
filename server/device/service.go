package device

import (
	"context"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/wire"
)

// Sender sends a command to a board's live connection, at most once, and fills
// in epoch and sequence. ErrOffline: nothing was sent.
type Sender interface {
	Send(ctx context.Context, boardID string, c wire.Command) error
}

// Config of a Service. Ledger and Sender are required, the rest has defaults.
type Config struct {
	Ledger   Ledger
	Sender   Sender
	Clock    clock.Clock         // nil = clock.Real
	Flight   *clock.Flight       // nil = nothing is counted
	History  func(history.Event) // nil = none
	Wait     time.Duration       // 0 = DefaultWait
	NotAfter time.Duration       // 0 = DefaultNotAfter
	InFlight int                 // 0 = DefaultInFlight
	// Step is called at the crash points after-claim, before-publish,
	// after-publish, before-commit, after-commit and before-answer; nil = none.
	Step func(name string)
	// Observe is told the phases of every finished command; nil = none.
	Observe func(Phases)
}

// Phases are the moments of a command on the monotonic clock (0 = not reached).
type Phases struct {
	Outcome                                           string
	Accepted, Committed, Published, Reported, Settled time.Duration
}

// Service executes commands. One per server.
type Service struct {
	cfg Config
}

// New returns a service. Call Recover before boards can connect.
func New(cfg Config) *Service { return &Service{cfg: cfg} }

// Execute carries a command out and returns when its answer is durable. The
// caller's context ends only the waiting, never the command. Errors: ErrReused,
// ErrTooMany, ErrNoDoor, ErrStopped, the context's, the ledger's.
func (s *Service) Execute(ctx context.Context, r Request) (Answer, error) {
	return Answer{}, ErrStopped
}

// Recover settles the intents that an earlier life of the server left without
// an outcome as noResponse, their records included, and returns how many.
func (s *Service) Recover() (int, error) { return 0, nil }

// Stop ends the waiting of every running command.
func (s *Service) Stop() {}
