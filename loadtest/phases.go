package loadtest

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
)

// Phase is one part of a command's way, according to the histories of all parts.
type Phase struct {
	Name string `json:"name"`
	Who  string `json:"who"` // whose time it is
	N    int64  `json:"n"`
	Latency
}

// The phases, in order: each ends where the next begins.
var phaseNames = []struct{ name, who string }{
	{"accepted: sent until the server had it", "network"},
	{"decided: until it was checked and allowed", "server"},
	{"committed: until its claim was on disk", "server"},
	{"published: until it went out to the board", "server"},
	{"received: until the board had it", "line"},
	{"actuated: until the relay moved", "board"},
	{"reported: until the server had the board's report", "board and line"},
	{"settled: until the outcome was on disk", "server"},
	{"answered: until the client had the answer", "server"},
}

// The points between the phases, as indexes of a way.
const (
	isSent = iota
	isAccepted
	isDecided
	isCommitted
	isPublished
	isReceived
	isActuated
	isReported
	isSettled
	isAnswered
	points
)

// way is when a command passed each point, in the machine's ns; 0 = it didn't.
type way [points]int64

// phases are histograms of the parts of the ways so far, of all commands that were sent within a time: the history of a
// search has those of its other steps, too.
type phases struct {
	hists    []*hdrhistogram.Histogram
	from, to int64 // in the machine's ns
}

// newPhases takes the step that a result is about. Without its end, all commands count.
func newPhases(of Result) phases {
	p := phases{from: math.MinInt64, to: math.MaxInt64}
	if !of.over.IsZero() {
		p.from, p.to = of.Started.UnixNano(), of.over.UnixNano()
	}
	for range phaseNames {
		p.hists = append(p.hists, newHistogram())
	}
	return p
}

// add splits the way of every command that a board reported into its parts. Repeated keys are left out, as they have no
// way of their own.
func (p phases) add(events []history.Event) {
	sent, ways := map[string]int64{}, map[string]*way{}
	of := func(id string) *way {
		return each.Made(ways, id, func() *way { return &way{} })
	}
	first := func(at *int64, ns int64) {
		if *at == 0 {
			*at = ns
		}
	}
	for i := range events {
		switch e := &events[i]; {
		case e.Kind == history.Attempt && (e.WallNs < p.from || e.WallNs > p.to):
		case e.Kind == history.Attempt:
			sent[e.Request] = e.WallNs
		case e.CommandID == "":
		case e.Kind == history.Intent:
			w := of(e.CommandID)
			first(&w[isAccepted], e.WallNs-e.TookNs-e.CheckNs)
			first(&w[isDecided], e.WallNs-e.TookNs)
			first(&w[isCommitted], e.WallNs)
		case e.Kind == history.Publish:
			first(&of(e.CommandID)[isPublished], e.WallNs)
		case e.Kind == history.Actuation:
			w := of(e.CommandID)
			first(&w[isReceived], e.WallNs-e.TookNs)
			first(&w[isActuated], e.WallNs)
		case e.Kind == history.Received:
			first(&of(e.CommandID)[isReported], e.WallNs)
		case e.Kind == history.RecordIn:
			first(&of(e.CommandID)[isSettled], e.WallNs)
		case e.Kind == history.Answer && !e.Replayed && e.Status == 200:
			w := of(e.CommandID)
			first(&w[isSent], sent[e.Request])
			first(&w[isAnswered], e.WallNs)
		}
	}
	for _, w := range ways {
		if !w.whole() {
			continue
		}
		for i := range p.hists {
			record(p.hists[i], time.Duration(w[i+1]-w[i]))
		}
	}
}

// list is nil if no command went the whole way.
func (p phases) list() []Phase {
	if p.hists[0].TotalCount() == 0 {
		return nil
	}
	var out []Phase
	for i, of := range phaseNames {
		out = append(out, Phase{Name: of.name, Who: of.who, N: p.hists[i].TotalCount(), Latency: summarize(p.hists[i])})
	}
	return out
}

// whole reports whether every point was passed, in order. A different machine's clock, or a joined repeat, can prevent
// that.
func (w *way) whole() bool {
	for i := range w {
		if w[i] == 0 || i > 0 && w[i] < w[i-1] {
			return false
		}
	}
	return true
}

// longest says which phase takes longest at p99, and whose time that is: what to look at if commands are too slow. "" without
// phases.
func longest(phases []Phase) string {
	if len(phases) == 0 {
		return ""
	}
	p := slices.MaxFunc(phases, func(a, b Phase) int { return cmp.Compare(a.P99, b.P99) })
	name, _, _ := strings.Cut(p.Name, ":")
	return fmt.Sprintf("longest phase at p99: %s, %s (%s)", name, ms(p.P99), p.Who)
}
