// Package grant holds the entitlements (entry permits, memberships, reservations) and the rules for registering and
// revoking them. Pure rules over the Store interface that it declares.
package grant

import (
	"slices"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/each"
)

// States of a permit: a pure function of time, see PERM-7.
const (
	Active  = "active"
	Pending = "pending"
	Expired = "expired"
	Revoked = "revoked"
)

// Kinds of grants besides permits.
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
	LinkHash     string    // by it an entry token finds its permit; once revoked, the dead token does
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

// How long boards keep a grant that no longer opens anything, so that the reader can still say why. It stays for Stay
// after its end; a grant revoked early counts as ended at most remembered after its revocation.
const (
	Stay       = 7 * 24 * time.Hour
	remembered = 30 * 24 * time.Hour
)

// LeavesAt is when the grant is dropped from the boards' content; zero = never.
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

// Left reports whether boards no longer need to know the grant at now.
func (g Grant) Left(now time.Time) bool {
	at := g.LeavesAt()
	return !at.IsZero() && !now.Before(at)
}

// Contents are the grants as access.Decide and the boards see them.
func Contents(gs []Grant, key access.PhoneKey) []access.Grant {
	return each.Of(gs, func(g Grant) access.Grant { return g.Content(key) })
}

// Content is what boards know about the grant: no name, and only a hash of the phone under the place's key.
func (g Grant) Content(key access.PhoneKey) access.Grant {
	c := access.Grant{
		ID: g.ID, Kind: g.Kind, PhoneHash: key.Hash(g.Phone), TokenHash: g.TokenHash,
		Doors: slices.Clone(g.Doors), StartsAt: g.StartsAt.UnixMilli(), Revoked: !g.RevokedAt.IsZero(),
	}
	if !g.EndsAt.IsZero() {
		if c.EndsAt = g.EndsAt.UnixMilli(); c.EndsAt == 0 {
			c.EndsAt = -1 // 0 would mean no end; a period may end exactly at the Unix epoch
		}
	}
	return c
}
