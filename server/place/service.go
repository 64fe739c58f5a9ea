package place

import (
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/server/record"
)

// Store is what places need. Methods return fail.ErrNotFound for missing rows.
type Store interface {
	// ChangePlace runs fn in one durable transaction; an error of fn undoes it.
	ChangePlace(fn func(tx Tx) error) error
	Place(id string) (Place, error)
	Door(id string) (Door, error)
	Doors(placeID string) ([]Door, error)
	Policies(placeID, doorID string) ([]access.Window, error)
}

// Tx is a transaction of the store. SavePlace, SavePolicies and SaveDoor raise
// the place's revision when what boards know has changed.
type Tx interface {
	record.Tx // for the record of a policy change, and the audit log
	Now() time.Time
	Place(id string) (Place, error)
	Door(id string) (Door, error)
	Policies(placeID, doorID string) ([]access.Window, error)
	// PhoneTaken reports whether another place has the entry phone.
	PhoneTaken(number, placeID string) (bool, error)
	SavePlace(op string, p, old Place) error
	SaveDoor(d Door) error
	// SavePolicies writes the policies put and deletes those in drop (ids), all of one place.
	SavePolicies(op, placeID string, put, drop []access.Window) error
}

// Config of a Service. Clock and Store are required.
type Config struct {
	Clock    clock.Clock
	Store    Store
	Openings *Openings // every change waits for them; nil = none
}

// Service changes and shows places, doors and window policies.
type Service struct{ cfg Config }

// New returns a service.
func New(cfg Config) *Service { return &Service{cfg: cfg} }

// change changes a place in one durable transaction. When it returns, openings that may have read the place before the
// change have sent their command.
func (s *Service) change(placeID string, fn func(tx Tx) error) error {
	err := s.cfg.Store.ChangePlace(fn)
	if err == nil {
		s.cfg.Openings.Wait(placeID) // [ENT-2] [HRS-1]
	}
	return err
}

// PolicyView is a window policy as it is listed.
type PolicyView struct {
	access.Window
	Active bool // in force now
}

// PolicyRequest asks for a window policy. nil = absent or null.
type PolicyRequest struct {
	Ref      *string // always business_hours after_hours custom
	Mode     *string // free auth closed
	Week     Week    // custom
	StartsAt *time.Time
	EndsAt   *time.Time
}

// Week is a week as requests have it: mon..sun to lists of [start, end]. nil in place of a list is an error.
type Week map[string][][]string

// PolicyQuery says which policies to delete; both empty = all of the door's.
type PolicyQuery struct{ Ref, PolicyID string }

// GateConfig is the access configuration.
type GateConfig struct {
	PhoneEnabled        bool
	EntryPermitMaxHours int
	EntryPhone          string // "" = none assigned: the field is absent
}

// Schedule is when a place really opens.
type Schedule struct {
	PlaceID  string
	Timezone string
	Days     []access.Day
}

// PlacePatch is what the operator's console may change. nil = unchanged.
type PlacePatch struct {
	EntryPhone   *string // "" unassigns
	PhoneEnabled *bool
	Closures     *[]access.Closure
	Holidays     *[]access.Holiday
	Timezone     *string
}

// DoorPatch is what the operator's console may change. nil = unchanged.
type DoorPatch struct {
	Entry               *bool
	EntryPermitMaxHours *int // 1..720
}
