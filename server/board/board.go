// Package board is what the server knows about a board and the rules for it: its state, when it counts as online, and
// its outage policy with default, bounds and merge. It is pure: no HTTP, SQL or MQTT, and time is an argument.
// server/gateway keeps a State per connected board, server/store stores it, server/boardsync and server/api read a
// Status.
package board

import (
	"slices"
	"time"

	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/fail"
)

// Health of a board and of its doors. A board never goes back to unknown.
const (
	Unknown = "unknown" // has never said hello
	Online  = "online"
	Offline = "offline"
)

// Errors of sending to a board (*fail.Error).
var (
	// ErrOffline: the board has no live connection; nothing was sent.
	ErrOffline = fail.New(fail.StoreOffline, "the board is not connected and nothing was sent; try again later", "reason", Offline)
	// ErrLost: the connection was lost after the send and before the answer.
	ErrLost = fail.New(fail.StoreUnreachable, "the connection was lost before the board answered; try again")
	// ErrNoAnswer: the board did not answer in time.
	ErrNoAnswer = fail.New(fail.DeviceNoResponse, "the board did not answer, so whether it has the new policy is unknown; send it again", "reason", vocab.NoResponse)
	// ErrNotFound: no board has this id.
	ErrNotFound = fail.New(fail.BoardNotFound, "board not found")
)

// Refused is a board's refusal of a configuration, with the board's own code.
func Refused(code string) error {
	return fail.New(fail.DeviceRefused, "the board refused the outage policy", "reason", vocab.Refused, "deviceCode", code)
}

// Status is what the server knows of a board now.
type Status struct {
	BoardID         string
	PlaceID         string
	State           string    // Online, Offline or Unknown
	Since           time.Time // domain time of the last change; zero while unknown
	LastSeenAt      time.Time // domain time of the last message; zero while unknown
	Epoch           int64     // of the live connection; 0 unless online
	AppliedRevision int64
	Digest          string // as the board gave it at AppliedRevision; may be empty
	AppliedAt       time.Time
	Policy          Policy           // what the board confirmed last, or the default
	PolicyAppliedAt time.Time        // zero = never configured
	Standings       map[int]Reported // by channel
	Buffered        int              // records waiting on the board, as of its last hello
	Dropped         int              // records the board had to drop
	Drops           map[string]int64 // what the server dropped of what the board said, by reason, since it started
	Troubles        []Trouble        // what was wrong with that and with refused connections, newest first; the latest few
}

// Trouble is something that the server dropped, or a connection that it refused.
type Trouble struct {
	At      time.Time // domain time of the last one
	Reason  string    // one of gateway.DropReasons, or NotAdmitted
	Channel string    // "" = none, or a topic that names none
	Field   string    // what is invalid; "" = all of it
	Count   int64     // how many in a row
}

// NotAdmitted is the Reason of a Trouble with a connection; Field is then what CONNECT had wrong.
const NotAdmitted = "refused"

// State is what is kept of a board across restarts.
type State struct {
	BoardID         string
	PlaceID         string
	PasswordHash    string    // of HashPassword
	HelloTurn       int64     // Origin.Turn of the latest hello that began a connection; not stored
	Doors           []Door    // read only, by channel
	FirstSeenAt     time.Time // zero = never said hello
	Since           time.Time
	LastSeenAt      time.Time
	Online          bool // was connected when this was written
	AppliedRevision int64
	Digest          string
	AppliedAt       time.Time
	Policy          *Policy // nil = never configured
	PolicyAppliedAt time.Time
	Standings       map[int]Reported
	Dropped         int
	// UploadsSince is the last contact before the records that the board still has to upload; zero = it has none.
	UploadsSince time.Time
}

// Door is a door wired to one of a board's channels.
type Door struct {
	DoorID  string
	Channel int
}

// Hello describes the connection of a board that has just said hello.
type Hello struct {
	BoardID  string
	PlaceID  string
	Epoch    int64
	Revision int64  // applied on the board; 0 = nothing stored
	Digest   string // of that content; may be empty
	Partial  *wire.Partial
}

// Connection is what a board's Status needs to know of its latest connection.
type Connection struct {
	Epoch      int64     // 0 = none is live
	EndedAt    time.Time // zero, or when the connection ended that State still calls online
	LastSeenAt time.Time // of the last message on any
	Buffered   int
	Drops      map[string]int64
	Troubles   []Trouble
}

// Status is the board's status given its latest connection c. It shares the state's maps.
func (s State) Status(c Connection) Status {
	out := Status{BoardID: s.BoardID, PlaceID: s.PlaceID, State: Unknown, AppliedRevision: s.AppliedRevision, Digest: s.Digest,
		AppliedAt: s.AppliedAt, Policy: s.Confirmed(), PolicyAppliedAt: s.PolicyAppliedAt, Standings: s.Standings,
		Buffered: c.Buffered, Dropped: s.Dropped, Drops: c.Drops, Troubles: c.Troubles}
	if s.FirstSeenAt.IsZero() {
		return out
	}
	out.State, out.Since, out.LastSeenAt = Offline, s.Since, c.LastSeenAt
	switch {
	case c.Epoch != 0:
		out.State, out.Epoch = Online, c.Epoch
	case !c.EndedAt.IsZero():
		out.Since = c.EndedAt
	}
	return out
}

// HasDoor reports whether a door belongs to the board.
func (s State) HasDoor(doorID string) bool {
	return slices.ContainsFunc(s.Doors, func(d Door) bool { return d.DoorID == doorID })
}
