package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"sort"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
)

//go:embed report.html
var page string

var tmpl = template.Must(template.New("report").Funcs(template.FuncMap{
	"lower": func(s judge.Status) string { return strings.ToLower(string(s)) },
	"stem":  stem, "first": firstLine, "line": Line, "lanes": lanes, "gantt": gantt, "breaches": breaches,
	"columns": Columns, "counts": counts, "rest": func(s string) string { _, r, _ := strings.Cut(s, "\n"); return r },
	"time": func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000") },
}).Parse(page))

// WriteHTML writes one self-contained page: verdicts, the guarantees with their
// evidence, the timeline of each first breach, the course of the run.
func WriteHTML(w io.Writer, res Result) error { return tmpl.Execute(w, res) }

// counted is how many events of a kind there were.
type counted struct {
	Kind string
	N    int
}

func counts(res Result) (out []counted) {
	n := map[string]int{}
	for i := range res.Events {
		n[res.Events[i].Kind]++
	}
	for k, v := range n {
		out = append(out, counted{k, v})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Kind < out[j].Kind })
	return out
}

// The lanes of a breach's timeline, top to bottom.
var laneOf = map[string]int{
	history.Label: 0, history.Attempt: 1, history.Answer: 1,
	history.Committed: 2, history.Publish: 2, history.Received: 2, history.Online: 2, history.Offline: 2, history.Applied: 2, history.RecordIn: 2,
	"intent": 2, "content": 2, "started": 2,
}

var laneNames = []string{"scenario", "client", "server", "board"}

// dot is one event in a lane.
type dot struct {
	X, Y  int
	Bad   bool
	Title string
	Kind  string
	Left  bool // label on the left
}

// drawing is an SVG of a timeline.
type drawing struct {
	Width, Height int
	Names         []string
	Ys            []int
	Dots          []dot
	Path          string
	From, To      string
}

// lanes draws a breach: who did what, in order. The distances are by rank, with
// the times beside them, since a jump may lie between two events.
func lanes(b *judge.Bad) drawing {
	const left, step, top, gap = 90, 62, 26, 58
	d := drawing{Names: laneNames, Height: top + gap*len(laneNames)}
	for i := range laneNames {
		d.Ys = append(d.Ys, top+i*gap)
	}
	events := b.Timeline
	if len(events) == 0 {
		events = []history.Event{b.Event}
	}
	var path strings.Builder
	for i, e := range events {
		lane, ok := laneOf[e.Kind]
		if !ok {
			lane = len(laneNames) - 1
		}
		p := dot{X: left + i*step, Y: d.Ys[lane], Bad: e.Seq == b.Event.Seq, Kind: e.Kind, Title: time.UnixMilli(e.At).UTC().Format("15:04:05.000") + " " + e.String()}
		op := "L"
		if i == 0 {
			op = "M"
		}
		fmt.Fprintf(&path, "%s%d %d", op, p.X, p.Y)
		d.Dots = append(d.Dots, p)
	}
	d.Path = path.String()
	d.Width = left + step*len(events)
	d.From = time.UnixMilli(events[0].At).UTC().Format("2006-01-02 15:04:05.000")
	d.To = time.UnixMilli(events[len(events)-1].At).UTC().Format("2006-01-02 15:04:05.000")
	return d
}

// bar is a step in the course of the run.
type bar struct {
	X, Y, W int
	Status  judge.Status
	Label   string
	Title   string
	File    bool
}

// course is the run by wall time.
type course struct {
	Width, Height int
	Bars          []bar
	Ticks         []bar
}

// gantt draws files and their longer steps by wall time.
func gantt(res Result) course {
	const width, row = 900, 18
	c := course{Width: width + 20}
	total := max(res.Seconds, 0.001)
	at := func(t time.Time) int { return int(t.Sub(res.Started).Seconds() / total * width) }
	y := 4
	add := func(label, title string, t time.Time, secs float64, st judge.Status, file bool) {
		c.Bars = append(c.Bars, bar{X: max(0, at(t)), Y: y, W: max(2, int(secs/total*width)), Status: st, Label: label, Title: title, File: file})
		y += row
	}
	for _, f := range res.Files {
		add(stem(f.Path), fmt.Sprintf("%s %.1f s", f.Name, f.Seconds), f.Started, f.Seconds, f.Status, true)
		for _, s := range f.Steps {
			if s.Seconds >= total/100 {
				add(s.Name, fmt.Sprintf("%s %.2f s, domain time %s", s.Name, s.Seconds, s.At.UTC().Format(time.RFC3339)), s.Started, s.Seconds, s.Status, false)
			}
		}
	}
	c.Height = y + 16
	for i := range 11 {
		c.Ticks = append(c.Ticks, bar{X: i * width / 10, Label: fmt.Sprintf("%.0fs", total*float64(i)/10)})
	}
	return c
}
