package command

import (
	"time"

	"github.com/doorlab/doorlab/internal/vocab"
)

// Ledger keeps intents, outcomes and answers durable. server/store implements it.
// Every method returns after the commit; errors are the store's (ErrUnavailable).
type Ledger interface {
	// Door finds a door. ErrNoDoor.
	Door(doorID string) (Door, error)
	// Claim commits the intent, with the answer that stands if nothing ever
	// comes back (504). When the place has the key already, from keptSince on,
	// nothing is written and prior is returned. An older claim counts as absent:
	// claims age by AgedAt.
	Claim(in Intent, keptSince time.Time) (prior *Prior, err error)
	// Answered is the meaning and the answer of the finished prior that Claim would
	// return, if the ledger remembers it without looking; otherwise Claim knows.
	Answered(placeID, key string, keptSince time.Time) (meaning string, a Answer, ok bool)
	// Withdraw removes the claim of a command that was neither sent nor
	// settled: its key is free again. No such claim: nothing happens.
	Withdraw(commandID string) error
	// Settle commits outcome, entry record and answer of claimed commands, all of
	// them or none. Those that are settled already stay as they are.
	Settle(list ...Settlement) error
	// Late settles the record of a command that was answered 504 long ago.
	Late(r LateReport) (Late, error)
	// CountReplay raises the replays of a command's record. Nobody waits: whoever
	// reads the record from now on sees it, and it is durable a moment later.
	CountReplay(commandID string)
	// Unsettled lists the intents without an outcome.
	Unsettled() ([]Intent, error)
	// Forget drops settled commands that are aged from before a moment, at most limit.
	Forget(before time.Time, limit int) (n int, err error)
}

// Door is where a command goes.
type Door struct {
	DoorID, PlaceID, BoardID string
	Channel                  int
	Test                     bool // of a test place
}

// Intent is a command that was accepted.
type Intent struct {
	CommandID   string
	PlaceID     string
	Key         string // "" = none
	Meaning     string // canonical request under the key
	DoorID      string
	BoardID     string
	Command     string
	Minutes     int
	Reason      string
	Method      vocab.Method
	ActorID     string
	ActorLabel  string
	GrantID     string
	EntryReason vocab.Reason
	RequestedAt time.Time
	AgedAt      time.Time // RequestedAt in running time, see age.Clock.Ran
	Status      int       // the answer when the outcome is noResponse
	Body        []byte
}

// Prior is a claim that was there before.
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
