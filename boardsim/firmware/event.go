package firmware

import (
	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/wire"
)

// Kind of an Event.
type Kind int

// Events.
const (
	Tick         Kind = iota // a deadline (NextDeadline) is reached
	Connected                // the MQTT session stands; the server has not spoken yet
	Disconnected             // Silent: noticed late, the server was last heard at Heard
	Command                  // Command, SessionMs, Refuse
	Sync                     // Change
	Config                   // Config, SessionMs
	Ack                      // Ack
	Present                  // DoorID, PhoneHash and PhoneTail, or TokenHash
	Leaf                     // DoorID, Action
	DigestDue                // the periodic digest
	Unanswered               // the upload in progress has waited long enough, whatever the board's clock says
	Reboot                   // Wiped: flash is lost; ClockLost: so is the clock
	Forget                   // CommandID: its report won't be sent again (a fault)
)

// Leaf actions.
const (
	LeafOpen  = "open"
	LeafClose = "close"
	LeafForce = "force"
)

// Event is something that happened to the board. Wall is the board's wall clock (Unix ms, possibly skewed), for permit
// periods, windows and record times. Mono is its monotonic domain time in ms, for outage age, holds and pulses.
type Event struct {
	Kind Kind
	Wall int64
	Mono int64

	SessionMs int64 // estimate of the server's session time; 0 = not known yet
	Command   wire.Command
	Refuse    string // Command: refuse with this code (a fault)
	Change    *Change
	Config    wire.Config
	Ack       wire.Ack

	DoorID    string
	PhoneHash string
	PhoneHead string // three digits, "" for a phone of less than ten
	PhoneTail string
	TokenHash string
	Action    string // Leaf

	Silent    bool
	Heard     int64
	Wiped     bool
	ClockLost bool
	CommandID string
}

// Shown is the phone that somebody presented, masked; "" for a link.
func (e Event) Shown() string {
	if e.PhoneTail == "" {
		return ""
	}
	_, label := access.MaskEnds(e.PhoneHead, e.PhoneTail)
	return label
}

// EffectKind is the kind of an effect.
type EffectKind int

// Effects, to be carried out in order.
const (
	Actuate    EffectKind = iota // Entry: append to the journal
	Persist                      // Parts: keep in flash before going on
	Publish                      // Channel, Payload: to the server, if connected
	Report                       // Report: answer of a Command, to the server when the board is ready to
	Released                     // Entry (DoorID, Channel), At: nothing drives the relay any more
	Decided                      // Entry, Record: answer of a Present; its journal entry came before
	Configured                   // Payload: the outage policy that was stored
)

// Parts of the state that Persist names.
type Parts int

// Parts. Core is all the small state; the others grow.
const (
	PartCore    Parts = 1 << iota
	PartContent       // Content changed
	PartDone          // the last of Done is new
	PartRecord        // the last of Records is new
	PartAll           // flash was wiped: write everything again
	PartLazy          // Acked or Records shrank: may be written later
)

// Effect is something that the shell has to do.
type Effect struct {
	Kind    EffectKind
	Entry   Entry
	Parts   Parts
	Channel string
	Payload any // a type of internal/wire
	Report  wire.Report
	Record  wire.Record // Decided
	At      int64       // Released: monotonic ms
}

// Action is what a journal entry says the relay did.
type Action string

// Actions.
const (
	ActPulse  Action = "pulse"
	ActHold   Action = "hold"
	ActLock   Action = "lock"
	ActOff    Action = "off"
	ActRefuse Action = "refuse"
	ActDeny   Action = "deny"
)

// Actions are all there are.
var Actions = []Action{ActPulse, ActHold, ActLock, ActOff, ActRefuse, ActDeny}

// Cause is why the relay did it.
type Cause string

// Causes.
const (
	CauseCommand Cause = "command"
	CauseOnsite  Cause = "onsite"
	CauseFree    Cause = "free"
	CauseHoldEnd Cause = "hold_end"
	CauseOutage  Cause = "outage"
)

// Entry is one entry of the relay's journal, the ground truth, without number and time.
type Entry struct {
	DoorID      string
	Channel     int
	Action      Action
	Cause       Cause
	PulseMs     int64 // pulse: how long it is meant to last
	Mono        int64 // of the step
	CommandID   string
	GrantID     string
	Revision    int64
	OutageAgeMs int64
}
