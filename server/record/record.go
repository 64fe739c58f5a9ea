// Package record describes what happened at the doors, and the rules for it: what a record fills in, which events and
// permit uses follow, late settlement, which of a board's records are acceptable and whom they show; also events, audit
// rows, and queries on all of these. server/entry and server/command make records, boards upload them through
// server/gateway, server/store stores them in the Tx declared here, and server/api shows them. No HTTP, SQL or MQTT.
package record

import (
	"time"

	"github.com/doorlab/doorlab/internal/vocab"
)

// Where a record was made.
const (
	FromServer = "server"
	FromBoard  = "board"
)

// Record is one entry record: a door command or an attempt to enter, see ENT-4.
// Actor and ActorLabel are masked already (access.MaskPhone).
type Record struct {
	ID          string // "" = a new one
	PlaceID     string
	DoorID      string // "" = no door could be chosen
	DoorName    string // "" = looked up
	Result      vocab.Result
	Reason      vocab.Reason
	Method      vocab.Method
	Actor       string
	ActorLabel  string
	CommandID   string
	GrantID     string // the credited grant, any kind
	Source      string // server (default) or board
	Dedupe      string // board records: makes it unique, e.g. board, life and sequence
	BoardID     string // board records; only for the history
	BoardSeq    int64  // board records: the board's own number
	RequestedAt time.Time
	OccurredAt  time.Time // zero = RequestedAt
	RecordedAt  time.Time // zero = now
	Note        string    // args.reason of a command, or what was changed; "" = none

	SettledAs vocab.Result // a 504 that was settled later (read only)
	SettledAt time.Time
	Replays   int64
}

// Kinds of events.
const (
	EntryOpened = "entry.opened"
	EntryDenied = "entry.denied"
	PermitUsed  = "entry.permit.used"
)

// Event is one line of a place's activity. Empty strings = null.
type Event struct {
	ID          string
	Kind        string // entry.opened entry.denied entry.permit.used
	PlaceID     string
	DoorID      string
	DoorName    string
	Result      vocab.Result // opened denied
	Reason      vocab.Reason
	Method      vocab.Method
	Actor       string
	ActorLabel  string
	PermitID    string
	ExternalRef string
	RecordID    string
	OccurredAt  time.Time
	RecordedAt  time.Time
	Late        bool // reported after the 504
}

// EventQuery asks for events. Empty lists match everything.
type EventQuery struct {
	From, To  time.Time // on RecordedAt, half open; zero: the last 24 h (before To), until now
	Results   []string  // opened denied
	Kinds     []string
	DoorIDs   []string
	PermitIDs []string
	Limit     int // 0 = 100, at most 500
	Offset    int
}

// Audit is one row of the audit log: who did or tried what, kept apart from the records themselves. It never contains a
// phone, a key or a token.
type Audit struct {
	At        time.Time // zero = now
	PlaceID   string
	KeyID     string // "" = an operator
	RequestID string
	Action    string // e.g. "entry-logs.read", "command.refused", "hours.changed"
	Detail    string // e.g. the query, the code of the refusal, the names of what was changed
	Count     int    // rows read or imported
}
