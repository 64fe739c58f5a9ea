package loadtest

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/plot"
	"github.com/doorlab/doorlab/internal/report"
)

// Lab is what the run's history shows besides the generator's own figures, by the same seconds: what the relays did,
// the state of the boards, which faults acted.
type Lab struct {
	Seconds []LabSecond `json:"seconds"`
	Faults  []FaultTime `json:"faults,omitempty"`
}

// LabSecond is one second of it. Boards are counted at its end.
type LabSecond struct {
	Second int `json:"second"`
	Opened int `json:"opened"` // pulses and holds, by the relays' journals
	Online int `json:"online"`
	Away   int `json:"away"`
	Behind int `json:"behind"` // online boards without their place's latest revision
}

// FaultTime is a period of the run during which a fault acted, on boards' lines or on commands.
type FaultTime struct {
	Fault  string  `json:"fault"`
	From   float64 `json:"from"` // seconds of the run
	To     float64 `json:"to"`
	Boards int     `json:"boards,omitempty"` // boards whose lines it affected, at most at the same time
	Hits   int     `json:"hits,omitempty"`   // commands that it affected
}

// lossyLine is the fault whose lines carry, but not everything: a history calls it packets.
const lossyLine = "lossy"

// hitsApart is how long a fault may hit nothing while its period continues.
const hitsApart = 3.0

// newLab reads the lab's part of a history from the run's start on; nil if it has none.
func newLab(events []history.Event, started time.Time, seconds int) *Lab {
	lab := &Lab{Seconds: make([]LabSecond, seconds)}
	fleet, faults, next, any := report.NewFleet(), &faultTimes{lines: map[string]map[string]bool{}, open: map[string]*FaultTime{}, hits: map[string]*FaultTime{}}, 0, false
	begin := started.UnixNano()
	fill := func(until int) {
		for ; next < min(until, seconds); next++ {
			s := &lab.Seconds[next]
			s.Second = next
			s.Online, s.Away, s.Behind = fleet.Count()
		}
	}
	for i := range events {
		e := &events[i]
		at := float64(e.WallNs-begin) / 1e9
		if at >= 0 {
			fill(int(at))
		}
		if at > float64(seconds) {
			break
		}
		any = any || e.Kind == history.Actuation || e.Kind == history.Door
		fleet.See(e)
		faults.see(e, max(at, 0))
		if e.Kind == history.Actuation && at >= 0 && (e.Action == "pulse" || e.Action == "hold") {
			lab.Seconds[min(int(at), seconds-1)].Opened++
		}
	}
	fill(seconds)
	if !any {
		return nil // boards of a real deployment: nothing to show
	}
	lab.Faults = faults.end(float64(seconds))
	return lab
}

// faultTimes follows faults through a history.
type faultTimes struct {
	lines map[string]map[string]bool // boards by the fault that has their line
	open  map[string]*FaultTime
	hits  map[string]*FaultTime
	done  []FaultTime
}

func (f *faultTimes) see(e *history.Event, at float64) {
	switch {
	case e.Kind == history.Line:
		f.line(e, at)
	case e.Kind == history.Fault:
		for name := range strings.FieldsSeq(e.Text) {
			if h := f.hits[name]; h != nil && at-h.To > hitsApart {
				f.close(f.hits, name, h.To)
			}
			each.Made(f.hits, name, func() *FaultTime { return &FaultTime{Fault: name, From: at} }).Hits++
			f.hits[name].To = at
		}
	}
}

// line follows a board's line: bad in one way or good, and lossy or not.
func (f *faultTimes) line(e *history.Event, at float64) {
	lossy := e.Text == history.Packets || e.Text == history.AllPackets
	for name, boards := range f.lines {
		if (name == lossyLine) != lossy {
			continue
		}
		if delete(boards, e.BoardID); len(boards) == 0 && f.open[name] != nil {
			f.close(f.open, name, at)
		}
	}
	if e.Op == "up" {
		return
	}
	name := e.Text
	if lossy {
		name = lossyLine
	}
	boards := each.Made(f.lines, name, func() map[string]bool { return map[string]bool{} })
	boards[e.BoardID] = true
	open := each.Made(f.open, name, func() *FaultTime { return &FaultTime{Fault: name, From: at} })
	open.Boards = max(open.Boards, len(boards))
}

func (f *faultTimes) close(from map[string]*FaultTime, name string, at float64) {
	t := *from[name]
	delete(from, name)
	t.From, t.To = round(t.From, 3), round(at, 3)
	f.done = append(f.done, t)
}

// end ends what is still open, in the order in which it began.
func (f *faultTimes) end(at float64) []FaultTime {
	for name := range f.open {
		f.close(f.open, name, at)
	}
	for name, t := range f.hits {
		f.close(f.hits, name, t.To)
	}
	return joined(f.done)
}

// labSeconds is how much of the history is the run's course: up to its last answer.
func (r Result) labSeconds() int {
	last := int(math.Ceil(r.Seconds))
	for _, p := range r.Series {
		last = max(last, p.Second+1)
	}
	return max(last, 1)
}

// mergeLabs adds up the parts' seconds as their series are added up.
func mergeLabs(start time.Time, parts []Result) (out *Lab) {
	for _, p := range parts {
		out = out.with(p.Lab, p.Started.Sub(start).Seconds())
	}
	return out
}

// with adds the seconds of other boards, shifted by how much later they began. Both may be nil.
func (l *Lab) with(more *Lab, shift float64) *Lab {
	if more == nil {
		return l
	}
	if l == nil {
		l = &Lab{}
	}
	for _, s := range more.Seconds {
		at := s.Second + int(math.Round(shift))
		for len(l.Seconds) <= at {
			l.Seconds = append(l.Seconds, LabSecond{Second: len(l.Seconds)})
		}
		to := &l.Seconds[at]
		to.Opened, to.Online, to.Away, to.Behind = to.Opened+s.Opened, to.Online+s.Online, to.Away+s.Away, to.Behind+s.Behind
	}
	for _, f := range more.Faults {
		f.From, f.To = round(f.From+shift, 3), round(f.To+shift, 3)
		l.Faults = append(l.Faults, f)
	}
	l.Faults = joined(l.Faults)
	return l
}

// joined merges a fault's overlapping periods, and orders them by their beginning.
func joined(all []FaultTime) (out []FaultTime) {
	slices.SortStableFunc(all, func(a, b FaultTime) int { return cmp.Or(cmp.Compare(a.Fault, b.Fault), cmp.Compare(a.From, b.From)) })
	for _, f := range all {
		if n := len(out) - 1; n >= 0 && out[n].Fault == f.Fault && f.From <= out[n].To {
			to := &out[n]
			to.To, to.Boards, to.Hits = max(to.To, f.To), to.Boards+f.Boards, to.Hits+f.Hits
			continue
		}
		out = append(out, f)
	}
	slices.SortStableFunc(out, func(a, b FaultTime) int { return cmp.Compare(a.From, b.From) })
	return out
}

// charts are the lab's tracks; chart makes one on the run's axis. disks is when the disk was bad, which a history doesn't say.
func (l *Lab) charts(chart func(id, title, unit string, lines ...plot.Line) plot.Chart, disks []plot.Span) (out []plot.Chart) {
	if l == nil {
		return nil
	}
	line := func(name string, color int, of func(LabSecond) int) plot.Line {
		x := plot.Line{Name: name, Color: color}
		for _, s := range l.Seconds {
			x.Points = append(x.Points, plot.Point{X: float64(s.Second) + .5, Y: float64(of(s))})
		}
		return x
	}
	open := line("", 2, func(s LabSecond) int { return s.Opened })
	open.Area = true
	boards := []plot.Line{line("connected", 2, func(s LabSecond) int { return s.Online })}
	for _, more := range []plot.Line{line("offline", 4, func(s LabSecond) int { return s.Away }), line("connected, a change behind", 5, func(s LabSecond) int { return s.Behind })} {
		if slices.ContainsFunc(more.Points, func(p plot.Point) bool { return p.Y > 0 }) {
			boards = append(boards, more)
		}
	}
	out = []plot.Chart{chart("openings", "Doors opened", "per second, according to the relays' journals", open)}
	if len(l.Faults)+len(disks) > 0 {
		faults := chart("faults", "Faults in force", "")
		for _, d := range disks {
			faults.Lasted("disk", d.From, d.To, d.Title)
		}
		for _, f := range l.Faults {
			faults.Lasted(f.Fault, f.From, f.To, f.title())
		}
		out = append(out, faults)
	}
	out = append(out, chart("boards", "Boards", "as the server sees them", boards...))
	for i := range out {
		out[i].Low = true
	}
	return out
}

func (f FaultTime) title() string {
	out := f.Fault + " from " + amount.Duration(round(f.From, 1)) + " to " + amount.Duration(round(f.To, 1))
	if f.Boards > 0 {
		out += ", on the lines of " + amount.Many(f.Boards, "board")
	}
	if f.Hits > 0 {
		out += ", hit " + amount.Many(f.Hits, "command")
	}
	return out
}
