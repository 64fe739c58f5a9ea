package command

import (
	"runtime"
	"time"

	"github.com/doorlab/doorlab/internal/vocab"
)

// Point is a step of a command at which the trace hook is called.
type Point string

// Points, in the order in which a command passes them. A claim that came too
// late passes Withdrawn alone; a replay passes none.
const (
	AfterClaim    Point = "after-claim"
	BeforePublish Point = "before-publish"
	AfterPublish  Point = "after-publish"
	BeforeCommit  Point = "before-commit"
	AfterCommit   Point = "after-commit"
	BeforeAnswer  Point = "before-answer"
	Withdrawn     Point = "withdrawn"
)

// CrashPoints are the points at which a server can be made to die, see CMD-6.
var CrashPoints = []Point{AfterClaim, BeforePublish, AfterPublish, BeforeCommit, AfterCommit, BeforeAnswer}

// Trail is how far a command has come: times on the monotonic clock, 0 = not reached. From BeforeCommit on, a hook may
// also read Outcome, Reported and the answer (Status and Body).
type Trail struct {
	Caller  any // what Config.Caller returned for the request's context
	Intent  Intent
	Outcome vocab.Outcome
	Status  int
	Body    []byte

	Accepted, Decided, Committed, Published, Reported, Settled time.Duration
}

// pass calls the trace hook. If the service has been killed by then, perhaps by the hook, the execution ends here, as
// in a process that died.
func (c *execution) pass(p Point) {
	c.s.cfg.Trace(p, &c.trail)
	select {
	case <-c.s.dead:
		runtime.Goexit()
	default:
	}
}
