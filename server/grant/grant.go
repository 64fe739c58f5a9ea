// Package grant holds the entitlements: entry permits, memberships, reservations,
// and the rules of registering and revoking them. Pure rules over the Store
// interface it declares.
package grant

import (
	"slices"
	"time"

	"github.com/doorlab/doorlab/internal/access"
)

// States of a permit: a pure function of time, see PERM-7.
const (
	Active  = "active"
	Pending = "pending"
	Expired = "expired"
	Revoked = "revoked"
)

// Kinds of terms.
const (
	Membership  = access.KindMembership
	Reservation = access.KindReservation
)

// Grant is a permit, a membership or a reservation.
type Grant struct {
	ID           string
	PlaceID      string
	Kind         string // access.KindPermit ...
	Source       string // imports: the originating system
	ExternalRef  string // "" = none
	Phone        string
	Name         string
	StartsAt     time.Time
	EndsAt       time.Time // zero = no end
	Doors        []string  // sorted
	Generation   int64     // of the entry token; raised by every revocation
	LinkHash     string    // finds a permit by its entry token; once revoked, by the dead one
	TokenHash    string    // what boards compare; "" once revoked
	CreatedBy    string    // key id
	CreatedAt    time.Time
	UpdatedAt    time.Time
	RevokedAt    time.Time // zero = not revoked
	RevokeReason string
	UseCount     int64
	FirstUsedAt  time.Time
	Rev          int64 // place revision of the last change
	LeftRev      int64 // place revision at which it left the boards' content; 0 = it is in it
}

// State is the grant's state at now.
func (g Grant) State(now time.Time) string {
	switch {
	case !g.RevokedAt.IsZero():
		return Revoked
	case now.Before(g.StartsAt): // [PERM-7]
		return Pending
	case !g.EndsAt.IsZero() && !now.Before(g.EndsAt):
		return Expired
	}
	return Active
}

// How long boards know of a grant that opens nothing any more, so that the reader can
// say why: Stay after its end, and of one revoked long before its end remembered more
// after the revocation at the most.
const (
	Stay       = 7 * 24 * time.Hour
	remembered = 30 * 24 * time.Hour
)

// LeavesAt is when the grant leaves the boards' content; zero = never.
func (g Grant) LeavesAt() time.Time {
	end := g.EndsAt
	if !g.RevokedAt.IsZero() {
		if last := g.RevokedAt.Add(remembered); end.IsZero() || end.After(last) {
			end = last
		}
	}
	if end.IsZero() {
		return end
	}
	return end.Add(Stay)
}

// Left reports whether boards need no longer know of the grant at now.
func (g Grant) Left(now time.Time) bool {
	at := g.LeavesAt()
	return !at.IsZero() && !now.Before(at)
}

// Contents are the grants as access.Decide and the boards know them.
func Contents(gs []Grant, key access.PhoneKey) []access.Grant {
	out := make([]access.Grant, 0, len(gs))
	for _, g := range gs {
		out = append(out, g.Content(key))
	}
	return out
}

// Content is what boards know of the grant: no name, and of the phone a hash under the
// place's key.
func (g Grant) Content(key access.PhoneKey) access.Grant {
	c := access.Grant{
		ID: g.ID, Kind: g.Kind, PhoneHash: key.Hash(g.Phone), TokenHash: g.TokenHash,
		Doors: slices.Clone(g.Doors), StartsAt: g.StartsAt.UnixMilli(), Revoked: !g.RevokedAt.IsZero(),
	}
	if !g.EndsAt.IsZero() {
		if c.EndsAt = g.EndsAt.UnixMilli(); c.EndsAt == 0 {
			c.EndsAt = -1 // 0 is no end: a period that ended with 1969 would never
		}
	}
	return c
}
