// Package fault performs what can go wrong with a simulated board, one fault per file. A Set arms faults by rule
// (cohort or share, doors, commands, n-th, time window, seed); commands, reports and the state of the line pass through
// it and come out changed. Names, parameters and meanings are in internal/faults.
package fault

import (
	"errors"

	"github.com/doorlab/doorlab/boardsim/link"
	"github.com/doorlab/doorlab/internal/clock"
)

// Errors of Arm and Remove, besides *faults.Bad.
var (
	ErrNotFound  = errors.New("fault: no such fault")
	ErrDetached  = errors.New("fault: faults can't be armed on a detached board")
	ErrTestPlace = errors.New("fault: faults can't be armed on boards of a test place")
)

// Info is a board that faults can be armed on.
type Info struct {
	ID, PlaceID string
	Test        bool // belongs to a test place
	Detached    bool // taken away: only faults that name it apply, and those are refused
	DoorIDs     []string
}

// Board is notified of what a fault does to it. The calls are made without the Set's lock, from the goroutine of Arm,
// Remove or the clock, and must not block.
type Board interface {
	LineChanged(boardID string) // ask Line again
	Reboot(boardID string, wiped bool)
	LoseClock(boardID string)
}

// Config of a Set.
type Config struct {
	Clock  clock.Clock
	Seed   int64
	Boards func() []Info // all boards of the fleet, test places included
	Board  Board         // nil = not called
}

// Line is the faults' effect on a board's line; zero = clean.
type Line struct {
	Offline bool // no connection: cut it and do not dial
	link.State
}
