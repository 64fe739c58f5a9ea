package device

import "time"

// Ledger keeps intents, outcomes and answers durable. server/store implements it.
// Every method returns after the commit; errors are the store's (ErrUnavailable).
type Ledger interface {
	// Door finds a door. ErrNoDoor.
	Door(doorID string) (Door, error)
	// Claim commits the intent, with the answer that stands if nothing ever
	// comes back (504). When the place has the key already, from keptSince on,
	// nothing is written and prior is returned; a finished prior with the same
	// meaning counts as a replay of it. An older claim counts as absent.
	Claim(in Intent, keptSince time.Time) (prior *Prior, err error)
	// Settle commits outcome, entry record and answer of a claimed command.
	Settle(s Settlement) error
	// Late settles the record of a command that was answered 504 long ago.
	Late(r LateReport) (Late, error)
	// CountReplay raises the replays of a command's record.
	CountReplay(commandID string) error
	// Unsettled lists the intents without an outcome.
	Unsettled() ([]Intent, error)
	// Forget drops settled commands requested before a moment, at most limit.
	Forget(before time.Time, limit int) (n int, err error)
}

// Door is where a command goes.
type Door struct {
	DoorID, PlaceID, BoardID string
	Channel                  int
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
	Method      string
	ActorID     string
	ActorLabel  string
	GrantID     string
	EntryReason string
	RequestedAt time.Time
	Status      int // the answer when the outcome is noResponse
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
	Outcome    string
	DeviceCode string
	ReportedAt time.Time // zero = no report
	Status     int
	Body       []byte
}

// RecordResult is the result of the entry record: opened, held or locked when
// the board reported, else the outcome.
func RecordResult(command, outcome string) string {
	if outcome != Reported {
		return outcome
	}
	switch command {
	case "hold":
		return "held"
	case "close":
		return "locked"
	}
	return "opened"
}

// LateReport is a report that no running command waits for.
type LateReport struct {
	CommandID  string
	BoardID    string
	Refused    bool
	ReportedAt time.Time
}

// Late is what a late report met.
type Late int

// Results of Ledger.Late.
const (
	LateUnknown Late = iota // no such command, or it was never sent
	LateForeign             // another board's command
	LateKnown               // settled before, nothing changed
	LateSettled             // the 504's record is settled now
)
