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

// BadSpec says what is wrong with a Spec.
type BadSpec struct {
	Field   string // as in the control API: "fault", "boards", "params.code"
	Reason  string
	Nearest string // the nearest valid name, or ""
}

func (e *BadSpec) Error() string { return e.Field + ": " + e.Reason }

// Spec arms a fault. Exactly one of Boards, PlaceID and Share picks its boards.
//
// A share takes boards in an order drawn from the seed, those held by the fewest
// armed shares first: 5 % + 5 % + 5 % + 5 % of one fleet are disjoint while they fit.
type Spec struct {
	Fault    string         `json:"fault"`
	Boards   []string       `json:"boards,omitempty"`
	PlaceID  string         `json:"placeId,omitempty"`
	Share    *float64       `json:"share,omitempty"`    // 0 < share <= 1 of all boards of live places, at least one board
	DoorIDs  []string       `json:"doorIds,omitempty"`  // empty = all; command faults only
	Commands []string       `json:"commands,omitempty"` // empty = all; command faults only
	Nth      int            `json:"nth,omitempty"`      // 0 = every; else only the n-th command that matches, counted over the whole cohort
	For      time.Duration  `json:"-"`                  // domain time, 0 = until removed
	Params   map[string]any `json:"params,omitempty"`
}

// ParseSpec reads the control API's body ("for" as "10m"). Error: *BadSpec.
func ParseSpec(body []byte) (Spec, error) { return Spec{}, nil }

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

// Armed is a fault in force.
type Armed struct {
	FaultID string         `json:"faultId"`
	Fault   string         `json:"fault"`
	Boards  []string       `json:"boards"`
	Count   int            `json:"count"` // of Boards
	Since   time.Time      `json:"since"`
	Until   *time.Time     `json:"until"` // nil = until removed
	Hits    int64          `json:"hits"`  // how often it did something
	Params  map[string]any `json:"params,omitempty"`
}

// Set holds the armed faults of a fleet. All methods are safe for concurrent
// use and next to free while nothing is armed.
type Set struct{}

// New returns an empty set.
func New(c Config) *Set { return &Set{} }

// Arm puts a fault in force. Instant faults act now and are gone, the id still
// counts them in Hits. Errors: *BadSpec, ErrTestPlace.
func (s *Set) Arm(spec Spec) (id string, err error) { return "", nil }

// Remove undoes a fault and returns its last state. Error: ErrNotFound.
func (s *Set) Remove(id string) (Armed, error) { return Armed{}, ErrNotFound }

// Reset removes all.
func (s *Set) Reset() []Armed { return nil }

// List returns the armed faults, oldest first.
func (s *Set) List() []Armed { return nil }

// Hits counts by fault name over the set's life, faults that are gone included.
func (s *Set) Hits() map[string]int64 { return nil }

// OnCommand is asked once for each command that a board received.
func (s *Set) OnCommand(boardID, doorID, command string) Decision { return Decision{} }

// Line is the state of a board's line now.
func (s *Set) Line(boardID string) Line { return Line{} }

// LineHit counts for the line faults of a board: the shell calls it from link.Config.OnFault.
func (s *Set) LineHit(boardID string, dir link.Dir) {}

// Skew is the sum of a board's clock skews; Offset is what they come to now.
func (s *Set) Skew(boardID string) (seconds, ppm float64) { return 0, 0 }

// Offset is how far a board's wall clock is off at domain time now: seconds plus drift since each skew was armed.
func (s *Set) Offset(boardID string, now time.Time) time.Duration { return 0 }

// Names lists the faults, sorted.
func Names() []string { return nil }

// Nearest is the fault name nearest to name.
func Nearest(name string) string { return "" }
