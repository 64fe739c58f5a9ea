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
			c, shown, err := whom(tx, b.PlaceID, r)
			if err != nil {
				return err
			}
			uncredited := r.GrantID != "" && r.Result == vocab.Opened && !usable(c, r)
			if uncredited {
				r.GrantID, c, shown = "", Credited{}, mask(r, "")
			}
			ok, err := keep(tx, onsite(b, r, shown), &c, now)
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

// person is somebody as a record shows them, see access.MaskPhone.
type person struct{ actor, label string }

// whom reads the grant that a record names, and finds out who came: the holder of that grant, or of the link that was
// presented when a window was free or closed. Nobody was let in by such a link: it shows its holder, no more.
func whom(tx Tx, placeID string, r wire.Record) (c Credited, who person, err error) {
	var of Credited
	switch {
	case r.GrantID != "":
		c, err = tx.Credited(r.GrantID, placeID)
		of = c
	case r.TokenHash != "":
		of, err = tx.CreditedLink(r.TokenHash, placeID)
	}
	if err != nil {
		return c, who, err
	}
	if r.PhoneTail == "" && of.Terms.ID != "" {
		who, err = holder(tx, of, r)
		return c, who, err
	}
	return c, mask(r, of.Phone), nil
}

// holder is whom a board let in, or turned away, without having been shown a phone. The grant may be somebody else's by
// now, and the board may not have heard of it: it says whom it had in mind by the hash of a phone. A board that doesn't
// say it can't have meant those who came after the record, see ENT-4.
func holder(tx Tx, c Credited, r wire.Record) (person, error) {
	if r.HolderHash == c.Terms.PhoneHash || r.HolderHash == "" && r.At >= c.UpdatedAt.UnixMilli() {
		return mask(r, c.Phone), nil
	}
	earlier, err := tx.EarlierHolders(c.Terms.ID)
	if err != nil {
		return person{}, err
	}
	who := mask(r, c.Phone)
	if r.HolderHash != "" {
		who = mask(r, "") // nobody whom the server knows
	}
	for _, h := range earlier { // the last one to fit was the first to hold it after the record
		if h.PhoneHash == r.HolderHash || r.HolderHash == "" && h.Until.UnixMilli() > r.At {
			who = person{h.Actor, h.Label}
		}
	}
	return who, nil
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
func onsite(b board.State, r wire.Record, who person) Record {
	at := time.UnixMilli(r.At).UTC()
	return Record{PlaceID: b.PlaceID, DoorID: r.DoorID, Result: r.Result, Reason: r.Reason, Method: vocab.Onsite,
		Actor: who.actor, ActorLabel: who.label, GrantID: r.GrantID, Source: FromBoard,
		Dedupe:  fmt.Sprintf("%s/%d/%d", b.BoardID, r.Seq, r.At), // [OFF-4]
		BoardID: b.BoardID, BoardSeq: r.Seq, RequestedAt: at, OccurredAt: at}
}

// mask masks the person of a board's record: the phone that the person showed, as the board recorded it, else the given
// one. In that order, because the grant may be somebody else's since. No board can get a whole phone into a record.
func mask(r wire.Record, phone string) (p person) {
	head, tail := r.PhoneHead, r.PhoneTail[max(0, len(r.PhoneTail)-4):]
	if len(head) != 3 || !digits(head) {
		head = ""
	}
	if len(tail) != 4 || !digits(tail) {
		tail = ""
	}
	if phone != "" && (tail == "" || head == "" && strings.HasSuffix(phone, tail)) {
		p.actor, p.label = access.MaskPhone(phone)
	} else {
		p.actor, p.label = access.MaskEnds(head, tail)
	}
	return p
}

func digits(s string) bool { return strings.Trim(s, "0123456789") == "" }
