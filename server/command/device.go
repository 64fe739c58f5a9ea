// Package command carries out door commands: it claims the idempotency key, commits the intent, sends the command once,
// waits for the board's report, and commits outcome, entry record and answer together. Everything that opens a door
// goes through Execute: the API, the entry link and the phone, see ENT-3. The package declares the Ledger that
// server/store implements and the Sender that server/gateway implements.
package command

import (
	"time"

	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/fail"
)

// Defaults of the time limits, in the order in which they expire.
const (
	DefaultNotAfter = 5 * time.Second // the board may start acting this long after the request was accepted
	DefaultWait     = 8 * time.Second // the server waits this long for the report
)

// Limits on commands in progress, in total and per place, so that no place takes the others' share.
const (
	defaultInFlight     = 10000
	defaultPerPlace     = 500
	defaultPerTestPlace = 200
)

// Retention is how long an idempotency key is kept; package age says how old a key is.
const Retention = 30 * 24 * time.Hour

// Errors of Execute, besides the ledger's own (store.ErrUnavailable).
var (
	// ErrReused: the key was used for another request.
	ErrReused = fail.New(fail.IdempotencyKeyReused, "this Idempotency-Key was already used for a different request; send a new one with each new request")
	// ErrTooMany: too many commands are in progress.
	ErrTooMany = &fail.Error{Code: fail.TooManyInFlight, Message: "too many commands are in progress; try again", RetryAfter: time.Second}
	// ErrNoDoor: the place has no such door.
	ErrNoDoor = fail.New(fail.DeviceNotFound, "device not found")
	// ErrUnavailable: the ledger did not commit in time. Either nothing was sent and the key is free again, or a repeat
	// with the same key gets the answer later.
	ErrUnavailable = fail.New(fail.StorageUnavailable, "the storage did not answer in time; try again with the same key")
	// ErrStopped: the service has been stopped; the command may still be settled at the next start.
	ErrStopped = fail.New(fail.StorageUnavailable, "the service is stopping; try again with the same key")
)

// Order is what a door command is to do, and for whom: what its intent keeps of a request.
type Order struct {
	PlaceID string
	DoorID  string
	Command string       // wire.CmdOpen, CmdHold, CmdClose
	Minutes int          // hold only: 0 = until locked
	Reason  string       // free text of the caller, for the record only; "sim:..." with Sim
	Key     string       // Idempotency-Key; "" = none (entry by people)
	Press   string       // without a key: who pressed, by a hash, for the next run's sake; only the ledger keeps it
	Method  vocab.Method // api, link or phone

	ActorID     string // the record's actor, masked already
	ActorLabel  string
	GrantID     string       // credited grant
	EntryReason vocab.Reason // the record's reason; "" = "api"
}

// Request is one door command.
type Request struct {
	Order
	Sim bool // a test place and a key that may ask for sim: outcomes

	Accepted time.Duration // when the request came, on the monotonic clock, for the trace only; 0 = now

	// Sent is called once the command has been handed to the board's line, which may never happen; nil = not called.
	Sent func()

	// Render makes the answer that is stored and sent. It is called for every outcome that the command may have, and
	// must be a pure function; nil = no answer is stored.
	Render func(Result) (status int, body []byte)

	caller any // see Config.Caller
}

// Result is what became of a command.
type Result struct {
	CommandID   string
	DoorID      string
	Command     string
	Outcome     vocab.Outcome
	DeviceCode  string // refused: one of wire.RefusalCodes
	TimeoutMs   int64  // noResponse
	RequestedAt time.Time
	ReportedAt  time.Time      // zero unless the board reported
	Standing    *wire.Standing // as reported; nil in a replay
}

// Answer is what the caller gets: the rendered bytes, the same for every call with one key, see CMD-5.
type Answer struct {
	Status   int
	Body     []byte
	Replayed bool // the key was taken: a stored answer, or that of a running command
	Result   Result
}
