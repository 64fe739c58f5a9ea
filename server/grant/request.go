package grant

import (
	"encoding/json"
	"time"
)

// RegisterRequest asks for a permit. nil = the field is absent or null.
type RegisterRequest struct {
	ExternalRef *string // required, 1..128 characters
	Phone       *string // required, 8..15 digits
	Name        *string // at most 100 characters
	StartsAt    *time.Time
	EndsAt      *time.Time
	DoorIDs     []string // nil: the entry doors of a new permit, the stored scope of an old one
}

// RevokeRequest names a permit by either field, or by both if they agree.
type RevokeRequest struct {
	ExternalRef *string
	PermitID    *string
	Reason      *string // at most 200 characters
}

// TermRequest asks for a membership or a reservation. nil = absent or null.
type TermRequest struct {
	ExternalRef *string // optional; a repeat under the same one replaces
	Phone       *string
	Name        *string
	StartsAt    *time.Time
	EndsAt      *time.Time // nil = no end
	DoorIDs     []string   // nil = the entry doors
}

// ListQuery pages through a list, newest first.
type ListQuery struct {
	ExternalRef string // "" = all
	Limit       int    // 0 = 100
	Offset      int
}

// ImportRequest is a file of rows. Items stay raw, so that a malformed row fails alone.
type ImportRequest struct {
	Source *string // required, 1..64 characters
	Items  []json.RawMessage
}

// Permit is a permit as the partner sees it.
type Permit struct {
	Grant
	State string
	Token string // the entry token; of a revoked permit the dead one
	URL   string // the entry link with that token
	Sync  Sync   // only in Get
}

// States of the synchronization.
const (
	Synced  = "synced"  // every board of the place has it
	Waiting = "waiting" // some board doesn't have it yet
	none    = "none"    // the place has no board
)

// Sync says how far a permit's last change has got.
type Sync struct {
	State        string
	Boards       int
	SyncedBoards int
	LastSyncedAt time.Time // zero = never
}

// Term is a membership or a reservation as the partner sees it.
type Term struct {
	Grant
	State string // active pending expired, and cancelled
}

// Cancelled is the state of a reservation or membership that was revoked.
const Cancelled = "cancelled"

// Customer is a person on a partner's list.
type Customer struct {
	ID          string
	PlaceID     string
	Source      string
	ExternalRef string // "" = none
	Phone       string
	Name        string
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// Status of an imported row.
const (
	created   = "created"
	updated   = "updated"
	unchanged = "unchanged"
	Failed    = "failed"
)

// ImportResult says what became of each row.
type ImportResult struct {
	Source    string
	Received  int
	Created   int
	Updated   int
	Unchanged int
	Failed    int
	Results   []RowResult
}

// RowResult is the result of one row. Error and Message are set only if it failed.
type RowResult struct {
	Index       int
	ExternalRef string // "" = none
	ID          string // "" when failed
	Status      string
	Error       string // code
	Message     string
}
