// Package grant holds the entitlements: entry permits, memberships,
// reservations, and the rules of registering and revoking them. Pure rules
// over the Store interface it declares; the API edge calls it. It imports
// internal/access, internal/clock, internal/id, server/place and server/rule, no
// HTTP, SQL or MQTT.
package grant

import (
	"slices"
	"time"

	"github.com/doorlab/doorlab/internal/access"
)

// States of a permit: a pure function of time [PERM-7].
const (
	Active  = "active"
	Pending = "pending"
	Expired = "expired"
	Revoked = "revoked"
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
}

// State is the grant's state at now.
func (g Grant) State(now time.Time) string {
	switch {
	case !g.RevokedAt.IsZero():
		return Revoked
	case now.Before(g.StartsAt):
		return Pending
	case !g.EndsAt.IsZero() && !now.Before(g.EndsAt):
		return Expired
	}
	return Active
}

// Content is what boards know of the grant: no name, no phone.
func (g Grant) Content() access.Grant {
	c := access.Grant{
		ID: g.ID, Kind: g.Kind, PhoneHash: access.HashPhone(g.PlaceID, g.Phone), TokenHash: g.TokenHash,
		Doors: slices.Clone(g.Doors), StartsAt: g.StartsAt.UnixMilli(), Revoked: !g.RevokedAt.IsZero(),
	}
	if !g.EndsAt.IsZero() {
		if c.EndsAt = g.EndsAt.UnixMilli(); c.EndsAt == 0 {
			c.EndsAt = -1 // 0 is no end: a period that ended with 1969 would never
		}
	}
	return c
}
