package judge

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
)

// Clocks of different machines differ. history.Clocks shifts the stamps of each process by the measured offset, and
// says how far they may still be off. Two events closer together than that have no order, and neither a breach nor an
// excuse is derived from them. Within one process, stamps count as they are.

// fleetMs is how far apart the clocks of server and boards may be for conclusions from the order of their events. With
// stamps shifted by twice as much, the whole suite had the same verdicts: simulated boards answer in 20 to 80 ms.
const fleetMs = 5

// nobodyKnows is the uncertainty of a clock that wasn't measured.
const nobodyKnows = 1 << 60

// basis is how a guarantee's checker compares times across processes.
type basis int

const (
	onPairs basis = iota + 1 // single events, only by before, longer and shorter: findings stand
	onCalls                  // clients' times with the server's, up to clockMs
	onFleet                  // the order of the server's and the boards' events
)

// bases are the guarantees that depend on the clocks of several processes.
var bases = map[string]basis{
	"CMD-1": onPairs, "CMD-2": onPairs, "CMD-3": onPairs, "CMD-4": onPairs, "CMD-5": onPairs, "CMD-6": onPairs, "ENT-4": onPairs,
	"PERM-1": onCalls, "PERM-3": onCalls, "PERM-4": onCalls, "PERM-6": onCalls, "ENT-3": onCalls, "HRS-1": onCalls, "HRS-2": onCalls,
	"ENT-1": onFleet, "ENT-2": onFleet, "CMD-7": onFleet, "SYNC-1": onFleet, "SYNC-2": onFleet, "SYNC-3": onFleet,
	"OFF-1": onFleet, "OFF-2": onFleet, "OFF-3": onFleet, "OFF-4": onFleet,
}

// clocks are those of the processes that contributed to a history, by Event.Src.
type clocks struct {
	of        []source
	unordered map[[2]int64]bool // pairs of events, by Seq
}

// source is one process: its uncertainty, and its last times.
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

// unmeasured reports whether some clock's offset is unknown.
func (c *clocks) unmeasured() bool {
	return slices.ContainsFunc(c.of, func(s source) bool { return s.errNs == nobodyKnows })
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

// ends are the last domain time and the last stamp, of the clock furthest behind if it wasn't measured: what isn't due
// by that clock isn't due.
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

// allow withdraws a verdict that the clocks can't support.
func (c *clocks) allow(v Verdict) Verdict {
	on := bases[v.Clause]
	if v.Status == Skipped || on == 0 {
		return v
	}
	why := ""
	switch {
	case c.unmeasured() && (v.Status == Pass || on != onPairs):
		why = "a clock of the target wasn't measured, so times of different processes can't be compared"
	case on == onFleet && c.fleetNs() > fleetMs*1e6:
		why = fmt.Sprintf("the clocks of server and boards are known only to ± %s, but ± %s is needed", ms(c.fleetNs()), ms(fleetMs*1e6))
	default:
		return v
	}
	if v.Status == Fail {
		why += "; as stamped: " + v.Number
	}
	v.Status, v.Number, v.Bad, v.FirstBad, v.Breaches = Invalid, why, 0, nil, nil
	return v
}

func ms(ns int64) string { return fmt.Sprintf("%.3g ms", float64(ns)/1e6) }

// uncertain is how far the stamps of two events may be off relative to each other.
func uncertain(a, b *history.Event) int64 {
	switch {
	case a.Src == b.Src:
		return 0
	case a.ErrNs < 0 || b.ErrNs < 0:
		return nobodyKnows
	}
	return a.ErrNs + b.ErrNs
}

// Unordered is the number of pairs of compared events that are closer together than their clocks are known.
func (v *View) Unordered() int { return len(v.clocks.unordered) }

func (v *View) tooClose(a, b *history.Event, u int64) {
	if u >= nobodyKnows { // every pair
		return
	}
	each.Put(&v.clocks.unordered, [2]int64{min(a.Seq, b.Seq), max(a.Seq, b.Seq)}, true)
}

// sooner orders two events of one process, or any two for display: by wall time if both have a stamp, else by arrival.
func sooner(a, b *history.Event) bool {
	if a.WallNs != 0 && b.WallNs != 0 && a.WallNs != b.WallNs {
		return a.WallNs < b.WallNs
	}
	return a.Seq < b.Seq
}

// firstOf is the first event in a list that fits, nil if none does.
func firstOf(events []*history.Event, fits func(e *history.Event) bool) *history.Event {
	if i := slices.IndexFunc(events, fits); i >= 0 {
		return events[i]
	}
	return nil
}

// earliest is the first of some events, nil if there are none.
func earliest(events ...[]*history.Event) *history.Event {
	var out *history.Event
	for _, es := range events {
		for _, e := range es {
			if out == nil || sooner(e, out) {
				out = e
			}
		}
	}
	return out
}

// before reports whether a certainly came before b. If the clocks leave it open, neither did; so ask whether a breach
// is certain, and for an excuse ask whether its opposite is certain.
func (v *View) before(a, b *history.Event) bool {
	if uncertain(a, b) == 0 || a.WallNs == 0 || b.WallNs == 0 {
		return sooner(a, b)
	}
	return v.longer(a, b, 0)
}

// longer reports whether certainly more than ms passed from a to b.
func (v *View) longer(a, b *history.Event, ms int64) bool { return v.compare(a, b, ms) > 0 }

// shorter reports whether certainly less than ms passed from a to b.
func (v *View) shorter(a, b *history.Event, ms int64) bool { return v.compare(a, b, ms) < 0 }

// compare is 1 or -1 if certainly more or less than ms passed from a to b, otherwise 0.
func (v *View) compare(a, b *history.Event, ms int64) int {
	over, u := b.WallNs-a.WallNs-ms*1e6, uncertain(a, b)
	if u != 0 && over >= -u && over <= u {
		v.tooClose(a, b, u)
		return 0
	}
	return cmp.Compare(over, 0)
}
