package report

import (
	"cmp"
	"fmt"
	"time"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/plot"
)

// ownAxes bounds how many failing scenarios of a run get their own time axis.
const ownAxes = 10

// addAxes gives the first failure of each failing scenario its own time axis.
func addAxes(res Result, failures []Failure) {
	seen := map[*FileResult]bool{}
	for i := range failures {
		f := &failures[i]
		if f.of == nil || seen[f.of] || len(seen) == ownAxes {
			continue
		}
		seen[f.of] = true
		if f.of.Seconds > 0 {
			f.Course = own(res, *f.of, f.ID)
		}
	}
}

// own draws a single scenario: its steps, and what its world did meanwhile.
func own(res Result, f FileResult, id string) []plot.Chart {
	end := f.Started.Add(time.Duration(f.Seconds * float64(time.Second)))
	c := &course{from: f.Started, to: end, events: eventsOf(res.Events, f)}
	out := []plot.Chart{c.steps(f)}
	tracks := perBar(c.charts(Result{Files: []FileResult{f}}), c.seconds())
	out = append(out, each.If(tracks, func(t plot.Chart) bool { return t.ID != "scenarios-played" })...)
	marks := append(failing(c, f.Steps), c.jumps()...)
	for i := range out {
		out[i].ID, out[i].Marks = id+"-"+out[i].ID, marks
	}
	return out
}

// eventsOf are the events up to a scenario's end: of its own world or, on a shared target, of all.
func eventsOf(events []history.Event, f FileResult) (out []history.Event) {
	end := f.Started.Add(time.Duration(f.Seconds * float64(time.Second)))
	worlds, mine := false, false
	for i := range events {
		e := &events[i]
		if e.Kind == history.World {
			worlds, mine = true, worldOf(e) == f.world()
			continue
		}
		if (mine || !worlds) && !wall(e).After(end) {
			out = append(out, *e)
		}
	}
	return out
}

// steps are the scenario's steps, packed into as few rows as possible.
func (c *course) steps(f FileResult) plot.Chart {
	out := c.chart("steps", "Steps", "red: those that failed")
	for _, s := range f.Steps {
		if s.Started.IsZero() {
			continue
		}
		from := max(s.Started.Sub(c.from).Seconds(), 0)
		color := map[judge.Status]int{judge.Pass: 2, judge.Fail: 3, judge.Blocked: 3, judge.Invalid: 5}[s.Status]
		out.Pack(plot.Span{From: from, To: from + s.Seconds, Color: cmp.Or(color, 6), Title: fmt.Sprintf("%s line %d: %s, %s", s.Status, s.Line, s.Name, took(s.Seconds))})
	}
	out.X = plot.Seconds(c.seconds())
	return out
}

// failing marks the innermost steps that didn't pass.
func failing(c *course, steps []*Step) (out []plot.Mark) {
	for _, l := range named(steps, "") {
		s := l.step
		if s.Status != judge.Pass && s.Status != judge.Skipped && !s.Started.IsZero() {
			out = append(out, plot.Mark{X: max(s.Started.Sub(c.from).Seconds(), 0), Text: fmt.Sprintf("line %d", s.Line), Title: string(s.Status) + " " + l.name})
		}
	}
	return out
}
