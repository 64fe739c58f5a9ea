// Package fault is what can go wrong with a simulated board: one fault a file,
// armed by rule (cohort or share, doors, commands, n-th, time window, seed) in a
// Set, which the board's shell asks what to do. It decides only; lines and
// boards carry it out. boardsim and internal/testbed may import it.
package fault

import (
	"errors"
	"time"

	"github.com/doorlab/doorlab/boardsim/link"
	"github.com/doorlab/doorlab/internal/clock"
)

// Errors of Arm and Remove, besides *BadSpec.
var (
	ErrNotFound  = errors.New("fault: no such fault")
	ErrTestPlace = errors.New("fault: boards of a test place take no fault")
)

// Info is a board that faults can be armed on.
type Info struct {
	ID, PlaceID string
	Test        bool // belongs to a test place
	DoorIDs     []string
}

// Board is told what a fault does to it. The calls come outside of the Set's
// lock, from the goroutine of Arm, Remove or the clock; they must not block.
type Board interface {
	LineChanged(boardID string) // ask Line again
	Reboot(boardID string, wiped bool)
	LoseClock(boardID string)
	SkewChanged(boardID string) // ask Skew or Offset again
}

// Config of a Set.
type Config struct {
	Clock  clock.Clock
	Seed   int64
	Boards func() []Info // all boards of the fleet, test places included
	Board  Board         // nil = nobody is told
}

// Decision is what the faults make of one command; zero = nothing. SilentBefore
// stands alone. Refuse may come with DelayMs and the report fields. SilentAfter
// comes with DelayMs only. At most one of Garbage, WrongID and Stale is set: it
// replaces the report.
type Decision struct {
	SilentBefore bool   // neither act nor report
	SilentAfter  bool   // act, do not report
	Refuse       string // refuse with this code, do not act
	DelayMs      int64  // before acting
	LateMs       int64  // between acting and reporting
	Duplicate    bool   // report twice
	Reorder      bool   // report after the next report of this board
	Garbage      bool   // report bytes that are no report
	WrongID      bool   // report another command's id
	Stale        bool   // report with an earlier connection's epoch
}

// Line is what the faults make of a board's line; zero = clean.
type Line struct {
	Offline    bool // no connection: cut it and do not dial
	HalfOpen   bool
	OnewayUp   bool
	OnewayDown bool
	Lossy      link.Lossy
}

// State is the line without Offline, for link.Line.Set.
func (l Line) State() link.State {
	return link.State{HalfOpen: l.HalfOpen, OnewayUp: l.OnewayUp, OnewayDown: l.OnewayDown, Lossy: l.Lossy}
}

// Moment is written as every time of the API: UTC with milliseconds.
type Moment struct{ time.Time }

// MarshalJSON writes it.
func (m Moment) MarshalJSON() ([]byte, error) {
	return []byte(m.UTC().Format(`"2006-01-02T15:04:05.000Z"`)), nil
}

// Armed is a fault in force.
type Armed struct {
	FaultID  string         `json:"faultId"`
	Fault    string         `json:"fault"`
	Boards   []string       `json:"boards"`
	Count    int            `json:"count"` // of Boards
	DoorIDs  []string       `json:"doorIds,omitempty"`
	Commands []string       `json:"commands,omitempty"`
	Nth      int            `json:"nth,omitempty"`
	Since    Moment         `json:"since"`
	Until    *Moment        `json:"until"` // nil = until removed
	Hits     int64          `json:"hits"`  // how often it did something
	Params   map[string]any `json:"params,omitempty"`
}
