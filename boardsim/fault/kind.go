package fault

import (
	"math"
	"time"

	"github.com/doorlab/doorlab/internal/faults"
	"github.com/doorlab/doorlab/internal/wire"
)

// kinds performs the faults of internal/faults, one per file, in that order: of several in force on one command,
// earlier ones act first.
var kinds = []*kind{
	&silent, &refuse, &slow, &silentAfter, &garbage, &wrongID, &stale, &late, &duplicate, &reorder, &noop,
	&offline, &halfopen, &onewayUp, &onewayDown, &lossy, &flap,
	&skew,
	&reboot, &rebootWiped, &noClock,
}

// kind performs a fault in one way: by incoming or outgoing, line, clock, or instant.
type kind struct {
	name string
	// incoming changes a command on its way to the board's brain, outgoing the
	// report on its way back. Both report whether they did anything.
	incoming func(p params, in *Incoming) bool
	outgoing func(p params, out *Outgoing) bool
	// line adds to the faults' effect on a line; down is flap's current state.
	line func(p params, down bool, l *Line)
	// cycle is how long the line is up and down in turn.
	cycle func(p params) (up, down time.Duration)
	// clock skews a board's wall clock: by seconds, and by ppm from then on.
	clock func(p params) (seconds, ppm float64)
	// instant acts on a board once.
	instant func(b Board, boardID string)
}

// lookup finds a fault's implementation and its position in the list.
func lookup(name string) (*kind, int) {
	for i, k := range kinds {
		if k.name == name {
			return k, i
		}
	}
	return nil, -1
}

// params are a fault's parameters and, for one command, its random numbers.
type params struct {
	faults.Values
	draw func() float64 // the next number in (0, 1)
}

// delay draws a time: log-normal through both quantiles, at most twice p99.
func (p params) delay() time.Duration {
	p50, p99 := p.Num["p50Ms"], p.Num["p99Ms"]
	if p50 > 0 && p99 != p50 {
		const z99 = 2.3263478740408408
		sigma := math.Log(p99/p50) / z99
		z := math.Sqrt2 * math.Erfinv(2*p.draw()-1)
		p50 = math.Round(min(p50*math.Exp(sigma*z), 2*p99))
	}
	return time.Duration(p50) * time.Millisecond
}

// Incoming is the faults' effect on a command before the board's brain gets it; zero = none.
type Incoming struct {
	Lost   bool          // the board never learns of it
	Refuse string        // refuse with this code, do not act
	Delay  time.Duration // before acting, wall time
}

// Outgoing is the faults' effect on a report.
type Outgoing struct {
	Report   wire.Report   // what the board has to say
	Messages []any         // what goes up in its place, in order: wire.Report or []byte
	Delay    time.Duration // before that, beside the board's own latency, wall time
	Behind   bool          // after the board's next report
	forged   bool
	set      *Set
	acting   []*armed // those that count with Reported
}

// Silent reports whether nothing goes up.
func (o *Outgoing) Silent() bool { return len(o.Messages) == 0 }

// True reports whether the report itself goes up. A report that doesn't is never resent either.
func (o *Outgoing) True() bool { return !o.forged && !o.Silent() }

// forge replaces the report by a message, unless it is suppressed or replaced already.
func (o *Outgoing) forge(message any) bool {
	if o.forged || o.Silent() {
		return false
	}
	o.Messages, o.forged = []any{message}, true
	return true
}
