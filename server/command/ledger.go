package command

import (
	"time"

	"github.com/doorlab/doorlab/internal/vocab"
)

// Ledger keeps intents, outcomes and answers durable. server/store implements it.
// Every method returns after the commit; errors are the store's (ErrUnavailable).
type Ledger interface {
	// Door finds a door. Error: ErrNoDoor.
	Door(doorID string) (Door, error)
	// Claim commits the intent together with the answer that stands if no report ever arrives (504). If the place has
	// used the key since keptSince, it writes nothing and returns prior. An older claim counts as absent: claims age by
	// AgedAt.
	Claim(in Intent, keptSince time.Time) (prior *Prior, err error)
	// Answered is meaning and answer of the finished prior that Claim would return, if the ledger has it in memory;
	// otherwise only Claim knows.
	Answered(placeID, key string, keptSince time.Time) (meaning string, a Answer, ok bool)
	// Withdraw removes the claim of a command that was neither sent nor settled, so its key is free again. Without such
	// a claim it does nothing.
	Withdraw(commandID string) error
	// Settle commits outcome, entry record and answer of claimed commands, all or none. Commands that are already
	// settled stay as they are.
	Settle(list ...Settlement) error
	// Late settles the record of a command that was answered 504 long ago.
	Late(r LateReport) (Late, error)
	// CountReplay increments the replays of a command's record. It doesn't block: every later read of the record shows
	// it, and it becomes durable shortly after.
	CountReplay(commandID string)
	// Unsettled lists the intents without an outcome.
	Unsettled() ([]Intent, error)
	// Forget deletes at most limit settled commands that were stamped (AgedAt) before a time.
	Forget(before time.Time, limit int) (n int, err error)
}

// Door is where a command goes.
type Door struct {
	DoorID, PlaceID, BoardID string
	Channel                  int
	Test                     bool // of a test place
}

// Intent is an accepted command.
type Intent struct {
	CommandID string
	Order
	Meaning     string // canonical request under the key
	BoardID     string
	RequestedAt time.Time
	AgedAt      time.Time // RequestedAt in running time, see age.Clock.Ran
	Status      int       // the answer when the outcome is noResponse
	Body        []byte
}

// Prior is an earlier claim of the same key.
type Prior struct {
	Meaning string
	Settled bool
	Intent  Intent // unsettled: to be settled now
	Answer  Answer
}

// Settlement is the end of a command.
type Settlement struct {
	Intent     Intent
	Outcome    vocab.Outcome
	DeviceCode string
	ReportedAt time.Time // zero = no report
	Status     int
	Body       []byte
}

// RecordResult is the result of the entry record: opened, held or locked when
// the board reported, else the outcome.
func RecordResult(command string, outcome vocab.Outcome) vocab.Result {
	if outcome != vocab.Reported {
		return vocab.Result(outcome)
	}
	switch command {
	case "hold":
		return vocab.Held
	case "close":
		return vocab.Locked
	}
	return vocab.Opened
}
