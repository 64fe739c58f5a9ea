package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/plot"
)

// bins is how finely the course of a run is drawn.
const bins = 200

// course draws a history on one axis of wall time: load, openings, faults, and
// what state the boards were in. With several worlds it adds up all of them.
type course struct {
	from, to time.Time
	events   []history.Event
}

func newCourse(res Result) *course {
	c := &course{from: res.Started, to: res.Started.Add(time.Duration(res.Seconds * float64(time.Second))), events: res.Events}
	for i := range c.events { // a target's history in the run directory may begin earlier
		if at := wall(&c.events[i]); !at.IsZero() && at.After(c.to) {
			c.to = at
		}
	}
	return c
}

func wall(e *history.Event) time.Time {
	if e.WallNs == 0 {
		return time.Time{}
	}
	return time.Unix(0, e.WallNs)
}

func (c *course) seconds() float64 { return max(c.to.Sub(c.from).Seconds(), .001) }

// x is an event's position on the axis, in seconds; false if it is before the run.
func (c *course) x(e *history.Event) (float64, bool) {
	at := wall(e)
	if at.IsZero() || at.Before(c.from) {
		return 0, false
	}
	return at.Sub(c.from).Seconds(), true
}

const rate = "per second"

// perBar turns the rates of charts whose bars are shorter than a second into counts: one opening isn't a rate of 200
// per second.
func perBar(charts []plot.Chart, seconds float64) []plot.Chart {
	each := seconds / bins
	if each >= 1 {
		return charts
	}
	for i := range charts {
		rest, ok := strings.CutPrefix(charts[i].Unit, rate)
		if !ok {
			continue
		}
		short := math.Pow(10, 1-math.Floor(math.Log10(each)))
		charts[i].Unit = "per " + amount.Duration(math.Round(each*short)/short) + rest
		for _, l := range charts[i].Lines {
			for k := range l.Points {
				l.Points[k].Y = math.Round(l.Points[k].Y*each*100) / 100
			}
		}
	}
	return charts
}

// bin counts what happened per second.
type bin [bins]int

func (b *bin) add(c *course, x float64) { b[min(int(x/c.seconds()*bins), bins-1)]++ }

func (b *bin) line(c *course, name string, color int, area bool) plot.Line {
	l := plot.Line{Name: name, Color: color, Area: area}
	each := c.seconds() / bins
	for i, n := range b {
		l.Points = append(l.Points, plot.Point{X: (float64(i) + .5) * each, Y: float64(n) / each})
	}
	return l
}

func (b *bin) any() bool { return slices.ContainsFunc(b[:], func(n int) bool { return n > 0 }) }

func (c *course) chart(id, title, unit string) plot.Chart {
	return plot.Chart{ID: id, Title: title, Unit: unit, To: c.seconds(), Low: true}
}

// charts are the tracks, top to bottom, without empty ones.
func (c *course) charts(res Result) (out []plot.Chart) {
	var calls, failed, opened, hits bin
	for i := range c.events {
		e := &c.events[i]
		x, ok := c.x(e)
		if !ok {
			continue
		}
		switch {
		case e.Kind == history.Call && e.Status >= 500:
			failed.add(c, x)
			calls.add(c, x)
		case e.Kind == history.Call:
			calls.add(c, x)
		case e.Kind == history.Actuation && (e.Action == "pulse" || e.Action == "hold"):
			opened.add(c, x)
		case e.Kind == history.Fault:
			hits.add(c, x)
		}
	}
	load := c.chart("load", "Requests", rate)
	load.Lines = []plot.Line{calls.line(c, "all", 1, true)}
	if failed.any() {
		load.Lines = append(load.Lines, failed.line(c, "answered 5xx", 3, false))
	}
	open := c.chart("openings", "Doors opened", rate+", according to the relays' journals")
	open.Lines = []plot.Line{opened.line(c, "", 2, true)}
	hit := c.chart("hits", "Commands that a fault hit", rate)
	hit.Lines = []plot.Line{hits.line(c, "", 3, true)}
	for _, t := range []struct {
		plot.Chart
		any bool
	}{{load, calls.any()}, {open, opened.any()}, {c.armed(res), true}, {hit, hits.any()}, {c.boards(), true}, {c.files(res), true}} {
		if t.any && !t.Empty() {
			out = append(out, t.Chart)
		}
	}
	for i := range out {
		out[i].X = plot.Seconds(c.seconds())
		out[i].Marks = c.jumps()
	}
	return out
}

// armed shows when faults were in force, one row per kind.
func (c *course) armed(res Result) plot.Chart {
	out := c.chart("faults-armed", "Faults in force", "")
	for _, f := range res.Files {
		for _, a := range f.Armed {
			out.Lasted(a.Fault, a.From.Sub(c.from).Seconds(), a.To.Sub(c.from).Seconds(), fmt.Sprintf("%s in %s: %s", a.Fault, f.label(), amount.Many(a.Hits, "hit")))
		}
	}
	return out
}

// ownRows is how many scenarios may have a row each, with their name.
const ownRows = 8

// files are the scenarios, in a row each if they are few, otherwise packed into as few rows as they need.
func (c *course) files(res Result) plot.Chart {
	out := c.chart("scenarios-played", res.Things(), "")
	for _, f := range res.Files {
		if f.Seconds == 0 {
			continue
		}
		from := max(f.Started.Sub(c.from).Seconds(), 0)
		color := map[judge.Status]int{judge.Pass: 2, judge.Fail: 3, judge.Blocked: 4, judge.Invalid: 5}[f.Status]
		span := plot.Span{From: from, To: from + f.Seconds, Color: cmp.Or(color, 6), Title: fmt.Sprintf("%s %s %.1f s", f.Status, f.label(), f.Seconds)}
		if len(res.Files) > ownRows {
			out.Pack(span)
			continue
		}
		span.Row = len(out.Rows)
		out.Rows, out.Spans = append(out.Rows, stem(f.Path)), append(out.Spans, span)
	}
	return out
}

// jumps are the times at which virtual time jumped by a minute or more, for a run in one world with few jumps.
func (c *course) jumps() (out []plot.Mark) {
	var last *history.Event
	for i := range c.events {
		e := &c.events[i]
		if e.Kind == history.World && last != nil {
			return nil
		}
		if _, ok := c.x(e); !ok || e.At == 0 {
			continue
		}
		if last != nil {
			by := time.Duration(e.At-last.At)*time.Millisecond - time.Duration(e.WallNs-last.WallNs)
			if by >= time.Minute {
				x, _ := c.x(e)
				n := len(out)
				if n > 0 && x-out[n-1].X < c.seconds()/100 { // several jumps close together count as one
					out[n-1].Title = ""
					continue
				}
				jump := amount.Duration(by.Round(time.Second).Seconds()) // the two events are milliseconds away from the jump
				out = append(out, plot.Mark{X: x, Text: "+" + jump, Title: "virtual time jumped by " + jump})
			}
		}
		last = e
	}
	if len(out) > 12 {
		return nil
	}
	return out
}

// latencies are how long each request took, in milliseconds of wall time.
func (c *course) latencies() (out []float64) {
	for i := range c.events {
		e := &c.events[i]
		if e.Kind != history.Call || e.WallNs == 0 {
			continue
		}
		if sent := number(e.Text, `"sentNs":`); sent > 0 && e.WallNs > sent {
			out = append(out, float64(e.WallNs-sent)/1e6)
		}
	}
	return out
}

// number reads a number after a name in a JSON text: a whole history is too long to decode for one field.
func number(text, name string) int64 {
	_, rest, ok := strings.Cut(text, name)
	if !ok {
		return 0
	}
	end := 0
	for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
		end++
	}
	n, _ := strconv.ParseInt(rest[:end], 10, 64) // digits only
	return n
}
