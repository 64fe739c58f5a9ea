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

// Keeper keeps records of attempts for which no command was sent.
type Keeper struct{ Store Store }

// Add keeps one record.
func (k Keeper) Add(r Record) error {
	return k.Store.KeepRecords(func(tx Tx, now time.Time) error {
		_, err := Keep(tx, r, now)
		return err
	})
}

// Uploaded says what became of a batch of records.
type Uploaded struct {
	Fresh      int // not known before
	Bad        int // unacceptable, see acceptable
	Uncredited int // fresh ones kept without the grant that they name
}

// Upload keeps a board's batch of on-site records in one transaction, each record once. b.LastSeenAt is the board's
// last contact before this connection. Errors: the store's; then nothing is kept.
func (k Keeper) Upload(b board.State, list []wire.Record) (u Uploaded, err error) {
	err = k.Store.KeepRecords(func(tx Tx, now time.Time) error {
		u = Uploaded{}
		for _, r := range list {
			if !acceptable(b, r, now) {
				u.Bad++
				continue
			}
			c, err := whom(tx, b.PlaceID, r)
			if err != nil {
				return err
			}
			uncredited := r.GrantID != "" && r.Result == vocab.Opened && !usable(c, r)
			if uncredited {
				r.GrantID, c = "", Credited{}
			}
			ok, err := keep(tx, onsite(b, r, c), &c, now)
			if err != nil {
				return err
			}
			if ok {
				u.Fresh++
			}
			if ok && uncredited {
				u.Uncredited++
			}
		}
		return nil
	})
	return u, err
}

// whom reads whom a record names: the holder of its grant, or of the link that was presented when a window was free or
// closed. Nobody was let in by such a link: it shows its holder, no more.
func whom(tx Tx, placeID string, r wire.Record) (c Credited, err error) {
	switch {
	case r.GrantID != "":
		return tx.Credited(r.GrantID, placeID)
	case r.TokenHash != "":
		c.Phone, err = tx.Holder(r.TokenHash, placeID)
	}
	return c, err
}

// olderContent is how long a board may decide by outdated terms: as long as it may decide without the server, plus how
// far its clock may be ahead.
const olderContent = time.Duration(access.OutageLimitMs)*time.Millisecond + recordsAfter

// usable reports whether a board can have opened by a grant. The board knows the grant's terms and dates the record by
// the same clock, so door and time must fit, unless the terms have changed since.
func usable(c Credited, r wire.Record) bool {
	if c.Terms.ID == "" || r.Reason != vocab.Reason(vocab.Onsite) {
		return false
	}
	changed := c.Terms.Revoked || !c.UpdatedAt.Equal(c.CreatedAt) // it may have been revoked in the millisecond of its creation
	if changed && c.UpdatedAt.UnixMilli() > r.At-olderContent.Milliseconds() {
		return true
	}
	return c.Terms.Opens(r.DoorID) && c.Terms.ValidAt(r.At)
}

// Bounds of a record's time; beyond them a board's clock is not believed.
const (
	recordsBefore = 30 * 24 * time.Hour // before the board's last contact
	recordsAfter  = time.Hour           // after the server's time
)

// acceptable reports whether a board's record can be kept: of one of the board's doors, at a possible time, with a
// known result and reason.
func acceptable(b board.State, r wire.Record, now time.Time) bool {
	if r.Seq == 0 || !wire.Whole(r.Seq) || r.At <= 0 || r.At < b.LastSeenAt.Add(-recordsBefore).UnixMilli() || r.At > now.Add(recordsAfter).UnixMilli() || !b.HasDoor(r.DoorID) || len(r.GrantID) > 64 {
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

// onsite is a board's record as it is stored. Records of the same board with equal sequence and time are the same; a
// board that lost its flash counts from 1 again.
func onsite(b board.State, r wire.Record, c Credited) Record {
	at := time.UnixMilli(r.At).UTC()
	actor, label := shown(r, c)
	return Record{PlaceID: b.PlaceID, DoorID: r.DoorID, Result: r.Result, Reason: r.Reason, Method: vocab.Onsite,
		Actor: actor, ActorLabel: label, GrantID: r.GrantID, Source: FromBoard,
		Dedupe:  fmt.Sprintf("%s/%d/%d", b.BoardID, r.Seq, r.At), // [OFF-4]
		BoardID: b.BoardID, BoardSeq: r.Seq, RequestedAt: at, OccurredAt: at}
}

// shown masks the person of a board's record: the phone that the person showed, as the board recorded it, else the
// grant's holder. In that order, because the permit may have been registered for another phone since. No board can get
// a whole phone into a record.
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
