// Package entry lets people in by phone call and by entry link. It asks internal/access for every decision and opens
// doors the same way as a command with an API key. It also lists entry records and events. It declares the Store and
// the Executor it needs.
package entry

import (
	"context"
	"errors"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/limit"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/server/command"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/place"
	"github.com/doorlab/doorlab/server/record"
)

// Store is what entry needs. Methods return fail.ErrNotFound for missing rows.
type Store interface {
	Place(id string) (place.Place, error)
	PlaceByPhone(number string) (place.Place, error)
	Door(id string) (place.Door, error)
	Doors(placeID string) ([]place.Door, error)
	Policies(placeID, doorID string) ([]access.Window, error)
	GrantByLink(linkHash string) (grant.Grant, error) // revoked or not
	GrantsOf(placeID, phone string) ([]grant.Grant, error)
	PhoneKey(placeID string) access.PhoneKey
	PressOf(commandID string) (string, error) // command.Order.Press

	record.Store
	Records(placeID string, since time.Time, limit, offset int) ([]record.Record, int, error)
	Events(placeID string, q record.EventQuery) ([]record.Event, int, error)
	AddAudit(a record.Audit) error
}

// Executor carries out the open command and waits for its outcome, by which time the record is written, see ENT-3.
// *command.Service is one. The end of ctx does not stop the command.
type Executor interface {
	Execute(ctx context.Context, r command.Request) (command.Answer, error)
}

// Config of a Service. Every field but Openings and Wait is required.
type Config struct {
	Clock    clock.Clock
	Store    Store
	Device   Executor
	Openings *place.Openings // begun here; changes that take rights away wait for them; nil = nobody waits
	Wait     time.Duration   // for a board's report; answers to openings of an earlier run name it
	Denied   func(Denial)    // called inline after each refusal that was recorded; nil = nobody watches
}

// Service lets people in.
type Service struct {
	cfg      Config
	openings *limit.Window // per link, and per calling number and place
	attempts *limit.Window // the same, whatever came of them: each leaves a record
	denials  *limit.Window // per link or number likewise; records of unknown links per place
	unknown  *limit.Window // denials per unknown link
	refused  *limit.Window // records of refused calls per number and place
	presses  presses
	began    time.Time // when this run did, on the domain's clock
}

// Limits per link and per calling number, so that retries can't flood the records.
const (
	openingsPerMinute = 6
	denialsPerMinute  = 60
	refusedPerMinute  = 6               // refused calls that are recorded
	onePress          = 3 * time.Second // the same person at the same door within this time is one opening
)

// errAborted is what the callers of joined presses get if the first one panicked.
var errAborted = errors.New("entry: the opening was aborted")

// New returns a service.
func New(cfg Config) *Service {
	return &Service{cfg: cfg,
		openings: limit.New(openingsPerMinute, time.Minute),
		attempts: limit.New(denialsPerMinute, time.Minute),
		denials:  limit.New(denialsPerMinute, time.Minute),
		unknown:  limit.New(denialsPerMinute, time.Minute),
		refused:  limit.New(refusedPerMinute, time.Minute),
		presses:  presses{last: map[button]*press{}},
		began:    cfg.Clock.Now(),
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
	State     string    // pending active expired
	StartsAt  time.Time // in the place's zone
	EndsAt    time.Time // in the place's zone
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

// Failure is nil if the door opened, else the caller's error: store_offline, device_refused or device_no_response, with
// details.reason.
func (r OpenResult) Failure() *fail.Error { return r.Device.Failure(fail.StoreOffline) }
