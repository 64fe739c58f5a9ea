// Package access is the one routine that decides who may open which door when. It is pure: now is an argument, and
// there is no I/O and no clock. The server (server/entry) and the board (boardsim/firmware) both call Decide, so they
// can't disagree, see ENT-3.
package access

import (
	"slices"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/vocab"
)

// Kinds of grants, in the order in which a use is credited.
const (
	KindPermit      = "permit"
	KindReservation = "reservation"
	KindMembership  = "membership"
)

// Grant is what a board knows of an entitlement: no name, no phone. Times are Unix milliseconds, the period is half
// open, and EndsAt 0 = no end.
type Grant struct {
	ID        string   `json:"id"`
	Kind      string   `json:"kind"`
	PhoneHash string   `json:"phoneHash"`
	TokenHash string   `json:"tokenHash,omitempty"` // permits only, empty once revoked
	Doors     []string `json:"doors"`               // sorted door ids
	StartsAt  int64    `json:"startsAt"`
	EndsAt    int64    `json:"endsAt,omitempty"`
	Revoked   bool     `json:"revoked,omitempty"`
}

// Modes of a time window.
const (
	ModeFree   = "free"
	ModeAuth   = "auth"
	ModeClosed = "closed"
)

// Refs of a time window, rising precedence: always < business_hours/after_hours < custom.
const (
	RefAlways   = "always"
	RefBusiness = "business_hours"
	RefAfter    = "after_hours"
	RefCustom   = "custom"
)

// Week maps mon..sun to ["HH:MM","HH:MM"] pairs; an end at or before the start runs past midnight, "24:00" is midnight.
type Week map[string][][2]string

// UnixZero stands for 1970-01-01T00:00:00Z in a window's period, where 0 means none. It is the first moment of the year 1,
// which no request can name, and it lies on the same side of every clock.
const UnixZero = -62_135_596_800_000

// Window is one time-window policy of a door.
type Window struct {
	ID        string `json:"id"`
	DoorID    string `json:"doorId"`
	Ref       string `json:"ref"`
	Mode      string `json:"mode"`
	Week      Week   `json:"week,omitempty"`     // custom
	StartsAt  int64  `json:"startsAt,omitempty"` // custom, Unix ms or UnixZero; 0 = none
	EndsAt    int64  `json:"endsAt,omitempty"`
	CreatedAt int64  `json:"createdAt"`
}

// Closure is a run of whole days, both ends included, as YYYY-MM-DD.
type Closure struct {
	From string `json:"from"`
	To   string `json:"to"`
	Name string `json:"name,omitempty"`
}

// Holiday closes a day unless it carries its own intervals.
type Holiday struct {
	Date      string      `json:"date"`
	Name      string      `json:"name,omitempty"`
	Intervals [][2]string `json:"intervals,omitempty"`
}

// Hours are a place's opening hours with everything the schedule needs.
type Hours struct {
	Timezone string    `json:"timezone"`
	Week     Week      `json:"week"`
	Closures []Closure `json:"closures,omitempty"`
	Holidays []Holiday `json:"holidays,omitempty"`
}

// Question is everything that a decision depends on.
type Question struct {
	Now      time.Time
	Method   vocab.Method
	DoorID   string
	Link     bool    // a link token was presented
	LinkOK   bool    // ... and it is known and not revoked
	Mode     string  // the door's window mode now
	Grants   []Grant // all grants of the person, any state
	OutageMs int64   // board only: outage age; -1 = clock lost. 0 on the server
}

// OutageLimitMs: on-site decisions still work at exactly 36 h and stop after that, see OFF-2.
const OutageLimitMs = int64(36 * time.Hour / time.Millisecond) // [OFF-2]

// Answer is a decision. Grant is the credited grant's id ("" when free, operator or denied).
type Answer struct {
	Allow  bool
	Reason vocab.Reason // denial reason, vocab.FreeWindow, or the method
	Grant  string
	Kind   string
}

// Decide applies the rules of docs/decisions.md, Entry.
func Decide(q Question) Answer {
	if q.Method == vocab.API {
		return Answer{Allow: true, Reason: vocab.Reason(vocab.API)}
	}
	if OutageOver(q.OutageMs) { // [OFF-2]
		return Answer{Reason: vocab.OutageLimit}
	}
	if q.Link && !q.LinkOK {
		return Answer{Reason: vocab.LinkInvalid}
	}
	switch q.Mode { // [ENT-2]
	case ModeClosed:
		return Answer{Reason: vocab.ClosedWindow}
	case ModeFree:
		return Answer{Allow: true, Reason: vocab.FreeWindow}
	}
	now := q.Now.UnixMilli()
	best := -1
	for i, g := range q.Grants { // [ENT-1]
		if !g.ValidAt(now) || !g.Opens(q.DoorID) {
			continue
		}
		if best < 0 || CreditBefore(g, q.Grants[best]) {
			best = i
		}
	}
	if best >= 0 {
		return Answer{Allow: true, Reason: vocab.Reason(q.Method), Grant: q.Grants[best].ID, Kind: q.Grants[best].Kind}
	}
	return Answer{Reason: Miss(q.Grants, now)}
}

// OutageOver reports whether the outage has lasted longer than the limit. A lost clock counts as over.
func OutageOver(ageMs int64) bool { return ageMs < 0 || ageMs > OutageLimitMs }

// ValidAt reports whether the grant is valid at now (Unix ms).
func (g Grant) ValidAt(now int64) bool {
	return !g.Revoked && now >= g.StartsAt && (g.EndsAt == 0 || now < g.EndsAt)
}

// Opens reports whether the door is in the grant's scope.
func (g Grant) Opens(doorID string) bool {
	return slices.Contains(g.Doors, doorID)
}

var kindRank = map[string]int{KindPermit: 0, KindReservation: 1, KindMembership: 2}

// CreditBefore orders valid grants by which one is credited: permits first (the one that ends first), then
// reservations, then memberships; ids break ties.
func CreditBefore(a, b Grant) bool {
	if kindRank[a.Kind] != kindRank[b.Kind] {
		return kindRank[a.Kind] < kindRank[b.Kind]
	}
	ae, be := a.EndsAt, b.EndsAt
	if ae != be {
		return be == 0 || (ae != 0 && ae < be)
	}
	return a.ID < b.ID
}

// Miss is why none of a person's grants opens the door that was tried, the nearest miss first: wrong door, then not
// started, expired, revoked.
func Miss(grants []Grant, now int64) vocab.Reason {
	rank := func(g Grant) (int, vocab.Reason) {
		switch {
		case g.ValidAt(now):
			return 4, vocab.DoorOutOfScope
		case g.Revoked:
			return 1, vocab.Revoked
		case now < g.StartsAt:
			return 3, vocab.NotStarted
		default:
			return 2, vocab.Expired
		}
	}
	top, reason := 0, vocab.NoValidGrant
	for _, g := range grants {
		if r, why := rank(g); r > top {
			top, reason = r, why
		}
	}
	return reason
}

// IsPhone reports whether s is 8 to 15 digits and nothing else.
func IsPhone(s string) bool {
	return len(s) >= 8 && len(s) <= 15 && strings.Trim(s, "0123456789") == ""
}

// MaskPhone is how records show a person: at most the first three digits (of ten or more) and the last four of a phone.
func MaskPhone(phone string) (actor, label string) {
	return MaskEnds(PhoneEnds(phone))
}

// PhoneEnds are the digits of a phone that may be shown: the last four, and the
// first three when there are ten or more.
func PhoneEnds(phone string) (head, tail string) {
	if len(phone) < 4 {
		return "", ""
	}
	if len(phone) >= 10 {
		head = phone[:3]
	}
	return head, phone[len(phone)-4:]
}

// MaskEnds is MaskPhone for a phone of which only PhoneEnds are known.
func MaskEnds(head, tail string) (actor, label string) {
	switch {
	case tail == "":
		return "guest:*----", "----"
	case head == "":
		return "guest:*" + tail, tail
	}
	return "guest:*" + tail, head + "-****-" + tail
}
