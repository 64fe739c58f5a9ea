package judge

import (
	"fmt"

	"github.com/doorlab/doorlab/internal/history"
)

// Clocks of different machines differ. history.Clocks shifts the stamps of each
// process by what was measured, and says how far they may still be off; two events
// that lie closer than that are in no order, and neither breach nor excuse is drawn
// from them. Within one process every stamp counts as it is.

// FleetMs is how far the clocks of server and boards may be off from each other for
// what is read from the order of their events. With stamps moved by twice as much the
// whole suite had the same verdicts: simulated boards answer in 20 to 80 ms.
const FleetMs = 5

// nobodyKnows stands for the uncertainty of a clock that wasn't measured.
const nobodyKnows = 1 << 60

// basis is what a guarantee's checker compares across processes.
type basis int

const (
	onPairs basis = iota + 1 // single events, by before, longer and shorter only: what is found stands
	onCalls                  // clients' times with the server's, up to ClockMs
	onFleet                  // the order of the server's and the boards' events
)

// bases are the guarantees that rest on more than one process's clock.
var bases = map[string]basis{
	"CMD-1": onPairs, "CMD-2": onPairs, "CMD-3": onPairs, "CMD-4": onPairs, "CMD-5": onPairs, "CMD-6": onPairs, "ENT-4": onPairs,
	"PERM-1": onCalls, "PERM-3": onCalls, "PERM-4": onCalls, "PERM-6": onCalls, "ENT-3": onCalls, "HRS-1": onCalls, "HRS-2": onCalls,
	"ENT-1": onFleet, "ENT-2": onFleet, "CMD-7": onFleet, "SYNC-1": onFleet, "SYNC-2": onFleet, "SYNC-3": onFleet,
	"OFF-1": onFleet, "OFF-2": onFleet, "OFF-3": onFleet, "OFF-4": onFleet,
}

// clocks are those of the processes that told a history, by Event.Src.
type clocks struct {
	of        []source
	unordered map[[2]int64]bool // pairs of events, by Seq
}

// source is one process: its uncertainty, and the last times that it told.
type source struct {
	told         bool
	errNs        int64
	end, endWall int64
}

func (c *clocks) see(e *history.Event) {
	for len(c.of) <= e.Src {
		c.of = append(c.of, source{})
	}
	s := &c.of[e.Src]
	s.told, s.end, s.endWall = true, max(s.end, e.At), max(s.endWall, e.WallNs)
	if e.ErrNs < 0 {
		s.errNs = nobodyKnows
	}
	s.errNs = max(s.errNs, e.ErrNs)
}

// unmeasured reports whether nobody knows how far some clock is off.
func (c *clocks) unmeasured() bool {
	for _, s := range c.of {
		if s.errNs == nobodyKnows {
			return true
		}
	}
	return false
}

// fleetNs is how far apart the clocks of server and boards may be.
func (c *clocks) fleetNs() (most int64) {
	for i, a := range c.of {
		for j, b := range c.of {
			if i > 0 && j > i && a.told && b.told {
				most = max(most, a.errNs+b.errNs)
			}
		}
	}
	return most
}

// ends are the last domain time and the last stamp, of the clock that is furthest
// behind if it wasn't measured: what isn't due there isn't due.
func (c *clocks) ends() (end, endWall int64) {
	behind := c.unmeasured()
	first := true
	for _, s := range c.of {
		switch {
		case !s.told:
		case first:
			end, endWall, first = s.end, s.endWall, false
		case behind:
			end, endWall = min(end, s.end), min(endWall, s.endWall)
		default:
			end, endWall = max(end, s.end), max(endWall, s.endWall)
		}
	}
	return end, endWall
}

// allow withdraws a verdict that the clocks can't carry.
func (c *clocks) allow(v Verdict) Verdict {
	on := bases[v.Clause]
	if v.Status == Skipped || on == 0 {
		return v
	}
	why := ""
	switch {
	case c.unmeasured() && (v.Status == Pass || on != onPairs):
		why = "a clock of the target wasn't measured, so times of different processes can't be compared"
	case on == onFleet && c.fleetNs() > FleetMs*1e6:
		why = fmt.Sprintf("the clocks of server and boards are known to ± %s only, %s are needed", ms(c.fleetNs()), ms(FleetMs*1e6))
	default:
		return v
	}
	if v.Status == Fail {
		why += "; as stamped: " + v.Number
	}
	v.Status, v.Number, v.Bad, v.FirstBad = Invalid, why, 0, nil
	return v
}

func ms(ns int64) string { return fmt.Sprintf("%.3g ms", float64(ns)/1e6) }

// uncertain is how far the stamps of two events may be off from each other.
func uncertain(a, b *history.Event) int64 {
	switch {
	case a.Src == b.Src:
		return 0
	case a.ErrNs < 0 || b.ErrNs < 0:
		return nobodyKnows
	}
	return a.ErrNs + b.ErrNs
}

// Unordered is how many pairs of events that checkers compared lay closer than their
// clocks are known.
func (v *View) Unordered() int { return len(v.clocks.unordered) }

func (v *View) tooClose(a, b *history.Event, u int64) {
	if u >= nobodyKnows { // every pair
		return
	}
	if v.clocks.unordered == nil {
		v.clocks.unordered = map[[2]int64]bool{}
	}
	v.clocks.unordered[[2]int64{min(a.Seq, b.Seq), max(a.Seq, b.Seq)}] = true
}

// sooner orders two events of one process, or any for display: by the wall when both
// have a stamp, else by arrival.
func sooner(a, b *history.Event) bool {
	if a.WallNs != 0 && b.WallNs != 0 && a.WallNs != b.WallNs {
		return a.WallNs < b.WallNs
	}
	return a.Seq < b.Seq
}

// before reports whether a surely came before b. Neither may have, where the clocks
// leave it open: ask for what would be a breach, and for an excuse ask whether the
// contrary is sure.
func (v *View) before(a, b *history.Event) bool {
	if uncertain(a, b) == 0 || a.WallNs == 0 || b.WallNs == 0 {
		return sooner(a, b)
	}
	return v.longer(a, b, 0)
}

// longer reports whether surely more than ms passed from a to b.
func (v *View) longer(a, b *history.Event, ms int64) bool {
	over, u := b.WallNs-a.WallNs-ms*1e6, uncertain(a, b)
	if u != 0 && over >= -u && over <= u {
		v.tooClose(a, b, u)
		return false
	}
	return over > u
}

// shorter reports whether surely less than ms passed from a to b.
func (v *View) shorter(a, b *history.Event, ms int64) bool {
	over, u := b.WallNs-a.WallNs-ms*1e6, uncertain(a, b)
	if u != 0 && over >= -u && over <= u {
		v.tooClose(a, b, u)
		return false
	}
	return over < -u
}
