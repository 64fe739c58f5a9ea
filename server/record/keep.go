package record

import (
	"cmp"
	"errors"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/id"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/server/board"
	"github.com/doorlab/doorlab/server/fail"
)

// Store keeps records. server/store implements it.
type Store interface {
	// KeepRecords runs fn in one durable transaction that began at now; an
	// error of fn undoes it.
	KeepRecords(fn func(tx Tx, now time.Time) error) error
}

// Tx is the transaction that a record is kept in.
type Tx interface {
	DoorName(doorID string) (string, error) // "" = no such door
	// Credited reads what a record needs of a grant of the place; zero = no such grant.
	Credited(grantID, placeID string) (Credited, error)
	// CreditedLink is Credited for the permit of a link, found by the hash that boards have; zero = no such link.
	CreditedLink(tokenHash, placeID string) (Credited, error)
	// EarlierHolders are those whom a grant was for before it was somebody else's, latest first.
	EarlierHolders(grantID string) ([]Holder, error)
	// InsertRecord writes a record. If its Dedupe or CommandID exists already, it changes nothing and fresh is false.
	InsertRecord(r Record) (fresh bool, err error)
	// RecordOfCommand finds a command's record. Errors: fail.ErrNotFound.
	RecordOfCommand(commandID string) (Record, error)
	SettleRecord(recordID string, settledAs vocab.Result, at time.Time) error
	InsertEvent(e Event) error
	CountUse(permitID string, at time.Time) error
	InsertAudit(a Audit) error
	SaveBoardState(b board.State) error
}

// Credited is a grant as a record needs it.
type Credited struct {
	Phone, ExternalRef   string
	Terms                access.Grant // as boards know them
	CreatedAt, UpdatedAt time.Time    // equal: its terms have never changed
}

// Holder is whom a grant was for, until it was somebody else's.
type Holder struct {
	PhoneHash    string // as boards know it
	Actor, Label string // as records show it
	Until        time.Time
}

// Keep writes a record and what follows from it: the event, and the use of a credited permit. If the record exists
// already, nothing changes.
func Keep(tx Tx, r Record, now time.Time) (fresh bool, err error) { return keep(tx, r, nil, now) }

// keep is Keep for a caller who has already read the record's grant; nil = not read.
func keep(tx Tx, r Record, c *Credited, now time.Time) (fresh bool, err error) {
	r = filled(r, now)
	if r.DoorID != "" && r.DoorName == "" {
		if r.DoorName, err = tx.DoorName(r.DoorID); err != nil {
			return false, err
		}
	}
	if fresh, err = tx.InsertRecord(r); err != nil || !fresh { // [ENT-4] each attempt has one record
		return false, err
	}
	return true, follow(tx, r, c, false, now)
}

// Settle settles a command that was answered 504: the record keeps its result and gains settledAs, and an opening also
// makes a late event. It does nothing if there is no such record, it is settled already, or it has another result.
func Settle(tx Tx, commandID string, settledAs vocab.Result, at, now time.Time) (settled bool, err error) {
	r, err := tx.RecordOfCommand(commandID)
	if errors.Is(err, fail.ErrNotFound) {
		return false, nil
	}
	if err != nil || r.Result != vocab.NoResponse || r.SettledAs != "" {
		return false, err
	}
	if err := tx.SettleRecord(r.ID, settledAs, at); err != nil {
		return false, err
	}
	r.Result, r.OccurredAt, r.RecordedAt = settledAs, at, now
	return true, follow(tx, r, nil, true, now)
}

// filled is a record with everything filled in that its maker left out, except the door's name.
func filled(r Record, now time.Time) Record {
	if r.ID == "" {
		r.ID = id.New(id.Record, now)
	}
	if r.RecordedAt.IsZero() {
		r.RecordedAt = now
	}
	if r.RequestedAt.IsZero() {
		r.RequestedAt = r.RecordedAt
	}
	if r.OccurredAt.IsZero() {
		r.OccurredAt = r.RequestedAt
	}
	r.Source = cmp.Or(r.Source, FromServer)
	return r
}

// follow writes a record's events and counts the use of its permit.
func follow(tx Tx, r Record, known *Credited, late bool, now time.Time) (err error) {
	var c Credited
	switch {
	case known != nil:
		c = *known
	case r.GrantID != "" && (r.Result == vocab.Opened || r.Result == vocab.Denied):
		if c, err = tx.Credited(r.GrantID, r.PlaceID); err != nil {
			return err
		}
	}
	for _, e := range events(r, c, late) {
		if e.Kind == PermitUsed {
			if err := tx.CountUse(e.PermitID, r.OccurredAt); err != nil {
				return err
			}
		}
		e.ID = id.New(id.Event, now)
		if err := tx.InsertEvent(e); err != nil {
			return err
		}
	}
	return nil
}

// events are what a record contributes to the place's activity: one for an opening or a denial, and one for the use of
// a permit. Other results contribute none.
func events(r Record, c Credited, late bool) []Event {
	e := Event{PlaceID: r.PlaceID, DoorID: r.DoorID, DoorName: r.DoorName, Result: r.Result, Reason: r.Reason, Method: r.Method,
		Actor: r.Actor, ActorLabel: r.ActorLabel, RecordID: r.ID, OccurredAt: r.OccurredAt, RecordedAt: r.RecordedAt, Late: late}
	if c.Terms.Kind == access.KindPermit {
		e.PermitID, e.ExternalRef = r.GrantID, c.ExternalRef
	}
	switch r.Result {
	case vocab.Opened:
		e.Kind = EntryOpened
		if e.PermitID == "" {
			return []Event{e}
		}
		used := e
		used.Kind = PermitUsed
		return []Event{e, used}
	case vocab.Denied:
		e.Kind = EntryDenied
		return []Event{e}
	}
	return nil
}
