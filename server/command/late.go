package command

import (
	"time"

	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/wire"
)

// LateReport is a report for a command that is no longer running.
type LateReport struct {
	CommandID  string
	BoardID    string
	Refused    bool
	Standing   *wire.Standing // nil = none reported
	ReportedAt time.Time
}

// Past is what the ledger knows about the command that a late report names; zero if there is no such command.
type Past struct {
	BoardID string
	DoorID  string
	Channel int
	Command string
	Outcome vocab.Outcome // "" = not settled
}

// Late is what became of a late report.
type Late int

// Results of Ledger.Late.
const (
	LateUnknown   Late = iota // no such command, or it was never sent
	LateForeign               // another board's command, or with another door's standing
	LateUnsettled             // the command has no outcome yet, because none could be committed
	LateKnown                 // settled before, nothing changed
	LateSettled               // the 504's record is settled now
)

// Verdict decides what a late report means for a command. With LateSettled, the record of the 504 is to be settled with
// the given result, unless it is settled already.
func (r LateReport) Verdict(was Past) (v Late, settleAs vocab.Result) {
	switch {
	case was == Past{}:
		return LateUnknown, ""
	case was.BoardID != r.BoardID, !names(r.Standing, Door{DoorID: was.DoorID, Channel: was.Channel}):
		return LateForeign, ""
	case was.Outcome == "": // the next start makes it a 504, which this report will settle
		return LateUnsettled, ""
	case was.Outcome == vocab.Offline: // never sent
		return LateUnknown, ""
	case was.Outcome != vocab.NoResponse:
		return LateKnown, ""
	case r.Refused:
		return LateSettled, RecordResult(was.Command, vocab.Refused)
	}
	return LateSettled, RecordResult(was.Command, vocab.Reported) // [CMD-4] the answer stays 504, the record gets the result
}
