package command

import (
	"time"

	"github.com/doorlab/doorlab/internal/vocab"
)

// LateReport is a report that no running command waits for.
type LateReport struct {
	CommandID  string
	BoardID    string
	Refused    bool
	ReportedAt time.Time
}

// Past is what the ledger holds of the command that a late report names; zero
// when there is no such command.
type Past struct {
	BoardID string
	Command string
	Outcome vocab.Outcome // "" = not settled
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

// Verdict is what a late report means for a command. LateSettled: unless it is
// settled already, the 504's record is to be settled as the given result.
func (r LateReport) Verdict(was Past) (v Late, settleAs vocab.Result) {
	switch {
	case was == Past{}:
		return LateUnknown, ""
	case was.BoardID != r.BoardID:
		return LateForeign, ""
	case was.Outcome == vocab.Offline || was.Outcome == "": // never sent, or not sent yet
		return LateUnknown, ""
	case was.Outcome != vocab.NoResponse:
		return LateKnown, ""
	case r.Refused:
		return LateSettled, RecordResult(was.Command, vocab.Refused)
	}
	return LateSettled, RecordResult(was.Command, vocab.Reported) // [CMD-4] the answer stays 504, the record tells
}
