package history

import (
	"fmt"
	"strings"
	"time"
)

// Clock is the machine clock of a process that contributed part of a history, compared with the clock of the run that
// collected it.
type Clock struct {
	Source   string `json:"source"`             // base URL of its control listener
	Measured bool   `json:"measured"`           // false: its offset is unknown
	OffsetNs int64  `json:"offsetNs"`           // how far it is ahead; its stamps are shifted by this
	ErrNs    int64  `json:"plusMinusNs"`        // how far that may be off: half a round trip, and the drift over the run
	DriftNs  int64  `json:"driftNs"`            // how much further ahead it was after the run than before
	Why      string `json:"why,omitempty"`      // why it couldn't be measured
	Real     bool   `json:"realTime,omitempty"` // its domain time is its machine's time
	// SetNs is how far that machine's clock has been set forward since the process started. Domain time follows, stamps don't.
	SetNs int64 `json:"setNs,omitempty"`
}

// Clocks are those of all control listeners, in their order.
type Clocks []Clock

// Apply marks the events of each listener with their source and converts their stamps to the run's own clock. Each of
// parts holds one list of events per listener, in the listeners' order: for example, what each found and what it has
// told since. Domain times that follow a machine's clock are converted to the server's, which the run itself uses.
func (c Clocks) Apply(server int, parts ...[][]Event) {
	for _, lists := range parts {
		for i := range lists {
			for j := range lists[i] {
				c.Shift(server, i, &lists[i][j])
			}
		}
	}
}

// Shift is Apply for an event of the i-th listener.
func (c Clocks) Shift(server, i int, e *Event) {
	if i < len(c) {
		c[i].shift(c.domainOf(i, server), i+1, e)
	}
}

// domainOf is how far a listener's domain time is ahead of the server's, in ms.
func (c Clocks) domainOf(i, server int) int64 {
	a, b := c[i], c[server]
	if !a.Real || !b.Real || !a.Measured || !b.Measured {
		return 0 // virtual clocks are set by the run
	}
	return time.Duration(a.OffsetNs + a.SetNs - b.OffsetNs - b.SetNs).Round(time.Millisecond).Milliseconds()
}

func (c Clock) shift(domainMs int64, src int, e *Event) {
	e.Src, e.ErrNs, e.At = src, c.ErrNs, e.At-domainMs
	if !c.Measured {
		e.ErrNs = -1
	} else if e.WallNs != 0 {
		e.WallNs -= c.OffsetNs
	}
}

// FineNs is how exactly clocks should be known; reports mention anything worse.
const FineNs = 1e6

// Told says how well the clocks are known, and how many pairs of events were left unordered because of that; "" without
// clocks.
func (c Clocks) Told(unordered int) string {
	if len(c) == 0 {
		return ""
	}
	var most, first, last int64 // the run's own clock is one of them
	var lost []string
	for _, k := range c {
		if !k.Measured {
			lost = append(lost, fmt.Sprintf("%s (%s)", k.Source, k.Why))
			continue
		}
		most, first, last = max(most, k.ErrNs), min(first, k.OffsetNs), max(last, k.OffsetNs)
	}
	if len(lost) > 0 {
		return aboutClocks + "not measured: " + strings.Join(lost, ", ") + "; times of different processes weren't compared"
	}
	out := fmt.Sprintf(aboutClocks+"at most %s apart, known to ± %s", millis(last-first), millis(most))
	if most > FineNs {
		out += " (± 1 ms would be fine)"
	}
	switch {
	case unordered == 1:
		out += "; 1 pair of events was closer together than that and counts as unordered"
	case unordered > 1:
		out += fmt.Sprintf("; %d pairs of events were closer together than that and count as unordered", unordered)
	}
	return out
}

// aboutClocks begins each of these notes.
const aboutClocks = "clocks: "

// AboutClocks reports whether a note is what Told says.
func AboutClocks(note string) bool { return strings.HasPrefix(note, aboutClocks) }

// Routine reports whether a note is what Told says if nothing is wrong with the clocks.
func Routine(note string) bool {
	return AboutClocks(note) && !strings.HasPrefix(note, aboutClocks+"not") && !strings.Contains(note, "(")
}

func millis(ns int64) string { return fmt.Sprintf("%.2f ms", float64(ns)/1e6) }
