package record

import (
	"fmt"
	"time"

	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/server/board"
)

// By is the API key that does something, and its request, as records and the audit log name them; of an operator only the
// place is known.
type By struct{ PlaceID, KeyID, KeyName, RequestID string }

// Change is an operation on a policy.
type Change struct {
	By
	DoorID string // "" = a board's outage policy
	Note   string // what was changed
}

// KeepChange writes the record of a change and its audit row, in the transaction that makes the change, so neither
// exists without the other.
func KeepChange(tx Tx, c Change, now time.Time) error {
	_, err := Keep(tx, Record{PlaceID: c.PlaceID, DoorID: c.DoorID, Result: vocab.Changed, // [CMD-8]
		Reason: vocab.Reason(vocab.API), Method: vocab.API, Actor: "api:" + c.KeyID, ActorLabel: c.KeyName, Note: c.Note}, now)
	if err != nil {
		return err
	}
	action := "policy.changed"
	if c.DoorID == "" {
		action = "netloss.changed"
	}
	return tx.InsertAudit(Audit{At: now, PlaceID: c.PlaceID, KeyID: c.KeyID, RequestID: c.RequestID, Action: action, Detail: c.Note})
}

// OutagePolicy describes the change of a board's outage policy to p.
func OutagePolicy(by By, boardID string, p board.Policy) Change {
	return Change{By: by, Note: fmt.Sprintf("outage policy of %s: graceSec %d, version %d", boardID, p.GraceSec, p.Version)}
}

// Configured stores the state of a board that confirmed outage policies, together with the records of these changes.
// Errors: the store's; then nothing is stored.
func (k Keeper) Configured(b board.State, changes []Change) error {
	return k.Store.KeepRecords(func(tx Tx, now time.Time) error {
		if err := tx.SaveBoardState(b); err != nil {
			return err
		}
		for _, c := range changes {
			if err := KeepChange(tx, c, now); err != nil {
				return err
			}
		}
		return nil
	})
}
