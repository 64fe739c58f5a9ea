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

// CrashPoints are the points at which a server may be made to die, see CMD-6.
var CrashPoints = []Point{AfterClaim, BeforePublish, AfterPublish, BeforeCommit, AfterCommit, BeforeAnswer}

// Trail is how far a command has come: its moments on the monotonic clock, 0 =
// not reached. A hook may read Outcome, Reported and the answer, Status and Body,
// from BeforeCommit on.
type Trail struct {
	Caller                                            any // what Config.Caller made of the request's context; nil = nothing
	Intent                                            Intent
	Outcome                                           vocab.Outcome
	Status                                            int
	Body                                              []byte
	Accepted, Committed, Published, Reported, Settled time.Duration
}

// pass tells the trace hook. In a service that has been killed meanwhile,
// perhaps by the hook, the execution ends here, as in a process that died.
func (c *execution) pass(p Point) {
	c.s.cfg.Trace(p, &c.trail)
	select {
	case <-c.s.dead:
		runtime.Goexit()
	default:
	}
}
