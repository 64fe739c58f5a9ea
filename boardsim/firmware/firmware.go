// Package firmware is the board's brain: Step(state, event) -> state, effects. Server messages, people at the reader,
// door leaves and deadlines go in; relay movements (the ground truth), messages to the server and what to keep in flash
// come out. It has no I/O, no goroutines and no clock: the time is in the event. boardsim runs it.
//
// A State is linear: once stepped, the old value may be read (Doors, Content, Outage are copied on write) but not
// stepped again, because the logs of commands and records grow in place.
package firmware

import (
	"maps"
	"slices"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/wire"
)

// Durations of the door and the protocol, in milliseconds.
const (
	PulseMs    = 5000    // an open command drives the relay this long
	leafWarnMs = 60_000  // a leaf that stands open longer is a warning
	resendMs   = 10_000  // records not acknowledged by then go up again
	MaxDone    = 256     // remembered commands
	MaxRecords = 10_000  // buffered on-site records
	batchSize  = 100     // records of one upload
	maxGrace   = 604_800 // longest graceSec a board takes
	bootShift  = 32      // a wiped board numbers its records from boot<<32, every board its standings
	limitMs    = access.OutageLimitMs
)

// State is everything that a board knows. The zero value is not a valid board; see New.
type State struct {
	BoardID string `json:"-"`
	PlaceID string `json:"-"`
	Boot    int    `json:"boot"` // raised by every reboot

	Doors   []Door       `json:"doors"`
	Content *Content     `json:"-"` // synchronized; never nil
	pages   []*Change    // of a change that hasn't arrived completely
	Netloss wire.Netloss `json:"netloss"`
	Outage  Outage       `json:"outage"`

	Epoch  int64 `json:"-"` // of the connection, from the hello's answer
	synced int64 // the last revision that this connection brought

	Done    []Done        `json:"-"` // remembered commands, oldest first
	Records []wire.Record `json:"-"` // waiting for upload, oldest first
	Seq     int64         `json:"seq"`
	Dropped int           `json:"dropped,omitempty"` // records lost to a full buffer, ever

	stood int64 // standings numbered since the boot

	sentSeq   int64 // last record of the batch being uploaded, 0 = none
	sentAt    int64 // mono
	tries     int   // of that batch: the wait doubles
	overtaken int   // of Dropped, those in that batch: not lost if it is acknowledged
}

// Door is one channel: its relay and its leaf. Fields ending in At are the board's monotonic milliseconds.
type Door struct {
	ID       string `json:"id"`
	Channel  int    `json:"channel"`
	LeafOpen bool   `json:"leafOpen,omitempty"`
	LeafAt   int64  `json:"leafAt,omitempty"` // the 60 s of an open leaf run from here
	Warn     bool   `json:"warn,omitempty"`   // forced, open too long, or closed while open
	Held     bool   `json:"held,omitempty"`
	HoldEnd  int64  `json:"holdEnd,omitempty"` // 0 = until locked
	PulseEnd int64  `json:"pulseEnd,omitempty"`
	Rest     string `json:"rest,omitempty"` // hold or off, while an outage drives the channel
	SinceAt  int64  `json:"since"`          // of the last change of state
}

// Outage is the board's own view of its connection.
type Outage struct {
	Online  bool  `json:"online,omitempty"` // the server has spoken on this connection
	Contact int64 `json:"contact"`          // mono from which the age counts while offline
	Lost    bool  `json:"lost,omitempty"`   // the clock was lost: counts as over 36 h
	Over    bool  `json:"over,omitempty"`   // passed 36 h: no decisions until the next sync acknowledgement
	Rested  bool  `json:"rested,omitempty"` // the resting behaviour was applied
}

// Done is a remembered command and its report.
type Done struct {
	Report wire.Report `json:"report"`
	Acked  bool        `json:"-"` // committed by the server, or not to be sent again
}

// New is a board fresh from the box: nothing stored, outage age counted from mono.
func New(boardID, placeID string, doors []Door, wall, mono int64) State {
	s := State{BoardID: boardID, PlaceID: placeID, Boot: 1, Content: &Content{}, Doors: slices.Clone(doors)}
	for i := range s.Doors {
		s.Doors[i].SinceAt = mono
	}
	s.Netloss = unconfigured(doors)
	s.Outage.Contact = mono
	return s
}

func unconfigured(doors []Door) wire.Netloss {
	n := wire.Netloss{GraceSec: wire.DefaultGraceSec, Channels: map[int]string{}}
	for _, d := range doors {
		n.Channels[d.Channel] = wire.RestClose
	}
	return n
}

// Age is the outage age in milliseconds: 0 while connected, -1 with a lost clock.
func (s State) Age(mono int64) int64 {
	switch {
	case s.Outage.Lost:
		return -1
	case s.Outage.Online:
		return 0
	}
	return max(0, mono-s.Outage.Contact)
}

// Phases of a board.
const (
	PhaseOnline = "online"
	PhaseGrace  = "grace"  // offline, channels unchanged
	PhaseOutage = "outage" // offline, the resting behaviour is due
	// PhaseStopped is no decisions on site: offline over 36 h, or the clock was lost, or back from that and not synchronized yet.
	PhaseStopped = "stopped"
)

// Phase is the board's row in the outage table at mono, counting deadlines that no step has handled yet.
func (s State) Phase(mono int64) string {
	switch {
	case s.Outage.Over, access.OutageOver(s.Age(mono)): // [OFF-2]; when the server has spoken, until it has acknowledged, too
		return PhaseStopped
	case s.Outage.Online:
		return PhaseOnline
	case s.Outage.Rested, mono >= s.restAt():
		return PhaseOutage
	}
	return PhaseGrace
}

// standing is a door's state as the board sees it.
func (s State) standing(i int, wall, mono int64) wire.Standing {
	d := s.Doors[i]
	st := wire.Standing{DoorID: d.ID, Channel: d.Channel, State: d.State(), Leaf: "closed", Since: max(0, wall-mono+d.SinceAt), Held: d.Held}
	if d.LeafOpen {
		st.Leaf = "open"
	}
	if d.Held && d.HoldEnd > 0 {
		until := wall + d.HoldEnd - mono
		st.HoldUntil = &until
	}
	return st
}

// numbered is a door's standing to be sent, with its number: what is made later, even of another boot, has a greater one.
func (m *machine) numbered(i int) wire.Standing {
	m.stood++
	st := m.standing(i, m.ev.Wall, m.ev.Mono)
	st.Seq = int64(m.Boot)<<bootShift + m.stood
	return st
}

// Standings of all doors.
func (s State) Standings(wall, mono int64) []wire.Standing {
	out := make([]wire.Standing, 0, len(s.Doors))
	for i := range s.Doors {
		out = append(out, s.standing(i, wall, mono))
	}
	return out
}

// States of a door.
const (
	locked   = "locked"
	unlocked = "unlocked"
	Open     = "open"
	warning  = "warning"
)

// driven reports whether the relay is held open, by a hold or by an outage's resting behaviour.
func (d Door) driven() bool { return d.Rest == wire.RestHold || d.Held && d.Rest != wire.RestOff }

// State is locked, unlocked (held), open or warning. A pulse alone leaves it locked.
func (d Door) State() string {
	switch {
	case d.LeafOpen && d.Warn:
		return warning
	case d.LeafOpen:
		return Open
	case d.driven():
		return unlocked
	}
	return locked
}

func (s State) doorByID(id string) int {
	return slices.IndexFunc(s.Doors, func(d Door) bool { return d.ID == id })
}

// door makes the doors writable and returns one of them.
func (s *State) door(i int) *Door {
	s.Doors = slices.Clone(s.Doors)
	return &s.Doors[i]
}

// Unacked are the reports the server has not acknowledged.
func (s State) Unacked() []string {
	var out []string
	for _, d := range s.Done {
		if !d.Acked {
			out = append(out, d.Report.CommandID)
		}
	}
	return out
}

func cloneNetloss(n wire.Netloss) wire.Netloss {
	n.Channels = maps.Clone(n.Channels)
	return n
}
