// Package entry is how people come in: by phone call and by entry link. It asks
// internal/access for every decision, opens through the same path as a command of
// an API key, and lists entry records and events. It declares the Store and the
// Executor it needs.
package entry

import (
	"context"
	"errors"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/limit"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/server/command"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/place"
	"github.com/doorlab/doorlab/server/record"
)

// Store is what entry needs. Rows that are not there: fail.ErrNotFound.
type Store interface {
	Place(id string) (place.Place, error)
	PlaceByPhone(number string) (place.Place, error)
	Door(id string) (place.Door, error)
	Doors(placeID string) ([]place.Door, error)
	Policies(placeID, doorID string) ([]place.Policy, error)
	GrantByLink(linkHash string) (grant.Grant, error) // revoked or not
	GrantsOf(placeID, phone string) ([]grant.Grant, error)

	record.Store
	Records(placeID string, since time.Time, limit, offset int) ([]record.Record, int, error)
	Events(placeID string, q record.EventQuery) ([]record.Event, int, error)
	AddAudit(a record.Audit) error
}

// Executor carries out the open command and waits for its outcome; the record
// is written by then, see ENT-3. *command.Service is one. A context that ends does
// not stop the command.
type Executor interface {
	Execute(ctx context.Context, r command.Request) (command.Answer, error)
}

// Config of a Service. Every field is required; Openings may be nil in tests.
type Config struct {
	Clock    clock.Clock
	Store    Store
	Device   Executor
	Openings *place.Openings // begun here; what takes a right away waits for them
}

// Service lets people in.
type Service struct {
	cfg      Config
	openings *limit.Window // per link, per calling number and place
	denials  *limit.Window // ... of these; of unknown links per place
	refused  *limit.Window // records of refused calls per number and place
	presses  presses
}

// Limits of links and of calling numbers: nobody fills the records by asking again.
const (
	openingsPerMinute = 6
	denialsPerMinute  = 60
	refusedPerMinute  = 6               // refused calls that are recorded
	onePress          = 3 * time.Second // the same person and door within it is one opening
)

// errAborted is what joined presses get when the first one panicked.
var errAborted = errors.New("entry: the opening was aborted")

// New returns a service.
func New(cfg Config) *Service {
	return &Service{cfg: cfg,
		openings: limit.New(openingsPerMinute, time.Minute),
		denials:  limit.New(denialsPerMinute, time.Minute),
		refused:  limit.New(refusedPerMinute, time.Minute),
		presses:  presses{last: map[press]*opening{}},
	}
}

// CallResult is the result of a phone call.
type CallResult struct {
	Answered bool         // false: the number is not assigned, phone entry is off, or the caller has called too often
	Result   vocab.Result // opened denied offline refused noResponse
	Reason   vocab.Reason // phone or free_window, or why denied
	DoorID   string       // "" = no door could be chosen
}

// LinkView is what the page of an entry link shows.
type LinkView struct {
	PlaceName string
	State     string // pending active expired
	StartsAt  time.Time
	EndsAt    time.Time
	Doors     []LinkDoor
}

// LinkDoor is one button.
type LinkDoor struct{ ID, Name string }

// OpenResult is the result of pressing a button.
type OpenResult struct {
	Result   vocab.Result // opened offline refused noResponse
	DoorID   string
	DoorName string
	Device   command.Result
}

// Failure is nil for an opened door, else the caller's error:
// store_offline, device_refused, device_no_response, with details.reason.
func (r OpenResult) Failure() *fail.Error { return r.Device.Failure(fail.StoreOffline) }
