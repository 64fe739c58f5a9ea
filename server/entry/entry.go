// Package entry is how people come in: by phone call and by entry link. It asks
// internal/access for every decision, opens through the same path as a command
// of an API key, and shows the entry records and events. The API edge and the
// control API call it. It imports no HTTP, SQL or MQTT; it declares the Store
// and the Executor it needs.
package entry

import (
	"context"
	"errors"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/limit"
	"github.com/doorlab/doorlab/server/device"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/place"
	"github.com/doorlab/doorlab/server/record"
	"github.com/doorlab/doorlab/server/rule"
)

// Store is what entry needs. Rows that are not there: rule.ErrNotFound.
type Store interface {
	Place(id string) (place.Place, error)
	PlaceByPhone(number string) (place.Place, error)
	Door(id string) (place.Door, error)
	Doors(placeID string) ([]place.Door, error)
	Policies(placeID, doorID string) ([]place.Policy, error)
	GrantByLink(linkHash string) (grant.Grant, error) // revoked or not
	GrantsOf(placeID, phone string) ([]grant.Grant, error)

	// Visit begins an opening at a place. What takes a right away is answered
	// only when every opening that began before has ended.
	Visit(placeID string) (end func())

	AddRecord(r record.Record) error
	Records(placeID string, since time.Time, limit, offset int) ([]record.Record, int, error)
	Events(placeID string, q record.EventQuery) ([]record.Event, int, error)
	AddAudit(a record.Audit) error
}

// Executor carries out the open command and waits for its outcome; the record
// is written by then [ENT-3]. *device.Service is one. A context that ends does
// not stop the command.
type Executor interface {
	Execute(ctx context.Context, r device.Request) (device.Answer, error)
}

// Config of a Service. Every field is required.
type Config struct {
	Clock  clock.Clock
	Store  Store
	Device Executor
}

// Service lets people in.
type Service struct {
	cfg     Config
	links   *limit.Window // openings a link
	dead    *limit.Window // records of dead links, a link or a place
	presses presses
}

// Limits of links.
const (
	openingsPerMinute = 6
	deadPerMinute     = 60              // records of a revoked link, or of unknown links at a place: nobody must fill them
	onePress          = 3 * time.Second // the same link and door within it is one opening
)

// errAborted is what joined presses get when the first one broke down.
var errAborted = errors.New("entry: the opening broke down")

// New returns a service.
func New(cfg Config) *Service {
	return &Service{cfg: cfg,
		links:   limit.New(openingsPerMinute, time.Minute),
		dead:    limit.New(deadPerMinute, time.Minute),
		presses: presses{last: map[press]*opening{}},
	}
}

// CallResult is what a phone call came to.
type CallResult struct {
	Answered bool   // false: nobody's number, or phone entry is off
	Result   string // opened denied offline refused noResponse
	Reason   string // phone or free_window, or why denied
	DoorID   string // "" = no door could be chosen
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

// OpenResult is what pressing a button came to.
type OpenResult struct {
	Result   string // opened offline refused noResponse
	DoorID   string
	DoorName string
	Device   device.Result
}

// Err is nil for an opened door, else what the caller is told (*rule.Error):
// store_offline, device_refused, device_no_response, with details.reason.
func (r OpenResult) Err() error {
	d := r.Device
	switch d.Outcome {
	case device.Reported:
		return nil
	case device.Offline:
		return rule.New(rule.StoreOffline, "the store's line is down, nothing was sent",
			"reason", d.Outcome, "commandId", d.CommandID)
	case device.Refused:
		return rule.New(rule.DeviceRefused, "the door refused to open",
			"reason", d.Outcome, "commandId", d.CommandID, "deviceCode", d.DeviceCode)
	}
	return rule.New(rule.DeviceNoResponse, "the door did not answer; whether it opened is unknown",
		"reason", d.Outcome, "commandId", d.CommandID, "timeoutMs", d.TimeoutMs)
}
