package record

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/board"
)

// Keeper keeps the records of attempts that sent no command.
type Keeper struct{ Store Store }

// Add keeps one record.
func (k Keeper) Add(r Record) error {
	return k.Store.KeepRecords(func(tx Tx, now time.Time) error {
		_, err := Keep(tx, r, now)
		return err
	})
}

// Uploaded says what became of a batch.
type Uploaded struct {
	Fresh      int // that weren't there yet
	Bad        int // that can never be kept
	Uncredited int // of the fresh ones, kept without the grant that they name
}

// Upload keeps a batch of a board's on-site records in one transaction, each
// once. b.LastSeenAt is its last contact before this connection. Errors: the
// store's; nothing is kept then.
func (k Keeper) Upload(b board.State, list []wire.Record) (u Uploaded, err error) {
	err = k.Store.KeepRecords(func(tx Tx, now time.Time) error {
		u = Uploaded{}
		for _, r := range list {
			if !acceptable(b, r, now) {
				u.Bad++
				continue
			}
			c, credited := Credited{}, true
			if r.GrantID != "" {
				if c, err = tx.Credited(r.GrantID, b.PlaceID); err != nil {
					return err
				}
				if credited = r.Result != vocab.Opened || usable(c, r); !credited {
					r.GrantID, c = "", Credited{}
				}
			} else if r.TokenHash != "" { // a link that nobody was let in by, for a window was free or closed: it shows its holder, no more
				if c.Phone, err = tx.Holder(r.TokenHash, b.PlaceID); err != nil {
					return err
				}
			}
			ok, err := keep(tx, onsite(b, r, c), &c, now)
			if err != nil {
				return err
			}
			if ok {
				u.Fresh++
				if !credited {
					u.Uncredited++
				}
			}
		}
		return nil
	})
	return u, err
}

// olderContent is how long a board may decide by terms that have changed: as long
// as it may decide without the server, on a clock that may be ahead.
const olderContent = time.Duration(access.OutageLimitMs)*time.Millisecond + recordsAfter

// usable reports whether a board can have opened by a grant. It knows the grant's
// terms and goes by the clock that dates the record, so door and time must fit;
// they can't be checked if the terms have changed since.
func usable(c Credited, r wire.Record) bool {
	if c.Terms.ID == "" || r.Reason != vocab.Reason(vocab.Onsite) {
		return false
	}
	changed := c.Terms.Revoked || !c.UpdatedAt.Equal(c.CreatedAt) // it may have been revoked in the millisecond in which it was made
	if changed && c.UpdatedAt.UnixMilli() > r.At-olderContent.Milliseconds() {
		return true
	}
	return c.Terms.Opens(r.DoorID) && c.Terms.ValidAt(r.At)
}

// Bounds of a record's time: a board's clock is not believed beyond them.
const (
	recordsBefore = 30 * 24 * time.Hour // its last contact before this connection
	recordsAfter  = time.Hour           // the server's time
)

// acceptable reports whether a board's record can be kept: of the board's own
// door, with a possible time and a known result and reason.
func acceptable(b board.State, r wire.Record, now time.Time) bool {
	if r.Seq <= 0 || r.At <= 0 || r.At < b.LastSeenAt.Add(-recordsBefore).UnixMilli() || r.At > now.Add(recordsAfter).UnixMilli() || !b.HasDoor(r.DoorID) || len(r.GrantID) > 64 {
		return false
	}
	switch r.Result {
	case vocab.Opened:
		return r.Reason == vocab.Reason(vocab.Onsite) || r.Reason == vocab.FreeWindow
	case vocab.Denied:
		return slices.Contains([]vocab.Reason{vocab.NoValidGrant, vocab.NotStarted, vocab.Expired, vocab.Revoked, vocab.DoorOutOfScope,
			vocab.ClosedWindow, vocab.LinkInvalid, vocab.OutageLimit}, r.Reason)
	}
	return false
}

// onsite is a board's record as it is kept. The same board, sequence and time
// are the same record (a board that lost its flash counts from 1 again).
func onsite(b board.State, r wire.Record, c Credited) Record {
	at := time.UnixMilli(r.At).UTC()
	actor, label := shown(r, c)
	return Record{PlaceID: b.PlaceID, DoorID: r.DoorID, Result: r.Result, Reason: r.Reason, Method: vocab.Onsite,
		Actor: actor, ActorLabel: label, GrantID: r.GrantID, Source: FromBoard,
		Dedupe:  fmt.Sprintf("%s/%d/%d", b.BoardID, r.Seq, r.At), // [OFF-4]
		BoardID: b.BoardID, BoardSeq: r.Seq, RequestedAt: at, OccurredAt: at}
}

// shown masks the person of a board's record: what the board kept of the phone that
// was shown, else the holder of the grant. In that order: the permit may have been
// registered for another phone since. No board gets a whole phone into a record.
func shown(r wire.Record, c Credited) (actor, label string) {
	head, tail := r.PhoneHead, r.PhoneTail[max(0, len(r.PhoneTail)-4):]
	if len(head) != 3 || !digits(head) {
		head = ""
	}
	if len(tail) != 4 || !digits(tail) {
		tail = ""
	}
	if c.Phone != "" && (tail == "" || strings.HasSuffix(c.Phone, tail)) {
		return access.MaskPhone(c.Phone)
	}
	return access.MaskEnds(head, tail)
}

func digits(s string) bool { return strings.Trim(s, "0123456789") == "" }
