// Package plot draws plots as inline SVG: no scripts, no network, any width. Strokes keep their width and labels are
// text beside the drawing, so a plot is as readable on a phone as on a desktop. The reports of check and load use it.
package plot

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/doorlab/doorlab/internal/amount"
)

// Chart is one plot. Its zero value draws nothing.
type Chart struct {
	ID    string // anchor
	Title string
	Note  string // what the reader should know, in one sentence
	Unit  string // of the numbers upwards
	Lines []Line
	Spans []Span   // drawn behind the lines
	Rows  []string // names of the spans' rows
	Marks []Mark   // vertical
	From  float64
	To    float64 // range of the horizontal axis, From to To
	X     []Tick  // on the axis
	Max   float64 // 0: the highest number, rounded up
	Low   bool    // half as high
}

// Line is a row of points from left to right.
type Line struct {
	Name   string
	Color  int // 1 to Colors, classes of the page's style
	Area   bool
	Points []Point
}

// Colors is how many colours of lines there are, some of them dashed.
const Colors = 15

// Point is one of a line.
type Point struct{ X, Y float64 }

// Span is a period during which something lasted, in a row of its own.
type Span struct {
	From, To float64
	Row      int // from the top
	Color    int
	Title    string
}

// Mark is a moment.
type Mark struct {
	X     float64
	Text  string
	Title string
}

// Tick is a label on the axis.
type Tick struct {
	X    float64
	Text string
}

// Lasted adds a span to the row of that name, which has its own color.
func (c *Chart) Lasted(name string, from, to float64, title string) {
	row := slices.Index(c.Rows, name)
	if row < 0 {
		row = len(c.Rows)
		c.Rows = append(c.Rows, name)
	}
	c.Spans = append(c.Spans, Span{From: from, To: to, Row: row, Color: 3 + row%4, Title: title})
}

// Pack adds a span to the first row that is free at that time.
func (c *Chart) Pack(s Span) {
	for slices.ContainsFunc(c.Spans, func(o Span) bool { return o.Row == s.Row && o.To > s.From+1e-6 }) {
		s.Row++
	}
	c.Spans = append(c.Spans, s)
}

// Empty reports whether there is nothing to draw.
func (c Chart) Empty() bool {
	if len(c.Spans) > 0 {
		return false
	}
	return !slices.ContainsFunc(c.Lines, func(l Line) bool { return len(l.Points) > 0 })
}

// The drawing's own units; the page stretches it.
const width, height = 1000.0, 100.0

func (c Chart) top() float64 {
	if c.Max > 0 {
		return c.Max
	}
	most := 0.0
	for _, l := range c.Lines {
		for _, p := range l.Points {
			most = max(most, p.Y)
		}
	}
	if c.Low && len(c.Marks) > 0 {
		return nice(most * lowroom)
	}
	return nice(most * headroom)
}

func (c Chart) across(x float64) float64 {
	if c.To <= c.From {
		return 0
	}
	return min(max((x-c.From)/(c.To-c.From), 0), 1)
}

// drawn is a chart as the template needs it.
type drawn struct {
	Chart
	Height int // of the drawing, pixels
	Paths  []path
	Bars   []bar
	Ticks  []label
	Flags  []label
	Tops   []label // numbers upwards
	Names  []label // of rows
}

type path struct {
	D     string
	Class string
}

type bar struct {
	X, Y, W, H string
	Class      string
	Title      string
}

type label struct {
	At    string // percent, or the drawing's units
	Edge  string // class: where the label stands beside its place
	Text  string
	Title string
}

// HTML is the chart as a figure.
func (c Chart) HTML() (template.HTML, error) {
	if c.Empty() {
		return "", nil
	}
	d := drawn{Chart: c, Height: 128}
	if c.Low {
		d.Height = 64
	}
	top, rows := c.top(), 0
	for _, s := range c.Spans {
		rows = max(rows, s.Row+1)
	}
	for _, s := range c.Spans {
		from, to := c.across(s.From)*width, c.across(s.To)*width
		each := height / float64(rows)
		d.Bars = append(d.Bars, bar{num(from), num(float64(s.Row)*each + each*.1), num(max(to-from-1, 1.5)), num(each * .8), fmt.Sprintf("c%d", s.Color), s.Title})
	}
	for i, name := range c.Rows {
		d.Names = append(d.Names, label{At: num((float64(i) + .5) / float64(max(rows, 1)) * 100), Text: name})
	}
	d.Height = max(d.Height, 20*len(c.Rows))
	for _, l := range c.Lines {
		if p := c.path(l, top); p.D != "" {
			d.Paths = append(d.Paths, p)
		}
	}
	desk, phone := c.every(1000), c.every(320)
	phone = (phone + desk - 1) / desk * desk // a phone's labels are some of a desktop's
	for i, t := range c.X {
		edge := c.edge(i)
		if i%desk != 0 {
			continue
		}
		if i%phone != 0 {
			edge += " less"
		}
		d.Ticks = append(d.Ticks, label{At: num(c.across(t.X) * 100), Edge: edge, Text: t.Text})
	}
	d.Flags = c.flags()
	if len(c.Lines) > 0 {
		d.Tops = []label{{At: "0", Text: amount.Number(top)}, {At: "50", Text: amount.Number(top / 2)}, {At: "100", Text: "0"}}
	}
	var b strings.Builder
	err := figure.Execute(&b, d)
	return template.HTML(b.String()), err //nolint:gosec // made by the template
}

// headroom keeps the highest line clear of the edge and of the marks' texts, lowroom in a low chart.
const headroom, lowroom = 1.1, 1.3

// letter and gap are the width of a label's character and the space between two labels, in px.
const letter, gap = 6.5, 8

// every is the least n for which the labels of every n-th tick fit beside each other on an axis of that many px.
func (c Chart) every(room float64) int {
	for n := 1; n < len(c.X); n++ {
		if c.fit(room, n) {
			return n
		}
	}
	return max(len(c.X), 1)
}

func (c Chart) fit(room float64, n int) bool {
	free := math.Inf(-1)
	for i := 0; i < len(c.X); i += n {
		wide := float64(utf8.RuneCountInString(c.X[i].Text)) * letter
		from := c.across(c.X[i].X)*room - wide/2
		switch c.edge(i) {
		case "b":
			from += wide / 2
		case "e":
			from -= wide / 2
		}
		if from < free {
			return false
		}
		free = from + wide + gap
	}
	return true
}

// edge is where a tick's label stands: left of it at the end of the axis, right of it at the beginning.
func (c Chart) edge(i int) string {
	at := c.across(c.X[i].X)
	switch {
	case at > .93 || i > 0 && i == len(c.X)-1 && at > .9:
		return "e"
	case at < .03:
		return "b"
	}
	return ""
}

// textWide is how wide a label is on a desktop's axis, as a share of it.
func textWide(text string) float64 {
	return (float64(utf8.RuneCountInString(text))*letter + gap) / width
}

// flags are the marks. Where a text would overlap a row's name or another mark's text, it is only in its title.
func (c Chart) flags() (out []label) {
	var taken [][2]float64
	for _, name := range c.Rows {
		taken = append(taken, [2]float64{0, textWide(name)})
	}
	for _, m := range c.Marks {
		at, edge := c.across(m.X), ""
		wide := textWide(m.Text)
		from, to := at, at+wide
		if at > .85 {
			edge, from, to = "e", at-wide, at
		}
		if slices.ContainsFunc(taken, func(o [2]float64) bool { return from < o[1] && o[0] < to }) {
			m.Text = ""
		} else {
			taken = append(taken, [2]float64{from, to})
		}
		out = append(out, label{num(at * 100), edge, m.Text, m.Title})
	}
	return out
}

func (c Chart) path(l Line, top float64) path {
	var b strings.Builder
	last := 0.0
	for i, p := range l.Points {
		x := c.across(p.X) * width
		if i == 0 && l.Area {
			fmt.Fprintf(&b, "M%s %s", num(x), num(height))
		}
		op := "L"
		if i == 0 && !l.Area {
			op = "M"
		}
		fmt.Fprintf(&b, "%s%s %s", op, num(x), num(height-min(p.Y/top, 1)*height))
		last = x
	}
	class := fmt.Sprintf("l c%d", l.Color)
	if l.Area && len(l.Points) > 0 {
		fmt.Fprintf(&b, "L%s %sZ", num(last), num(height))
		class = fmt.Sprintf("a c%d", l.Color)
	}
	return path{b.String(), class}
}

// num writes a coordinate.
func num(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }

// nice rounds up to a short number whose half is short, too: of 1 to 10, an even one, because it may be a count.
func nice(v float64) float64 {
	if v <= 0 {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	for _, n := range []float64{1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8} {
		if whole := unit != 1 || n == 2 || n == 4 || n == 6 || n == 8; whole && v <= n*unit*1.0000001 {
			return n * unit
		}
	}
	return 10 * unit
}

// Seconds makes ticks for a time axis of up to that many seconds: round ones.
func Seconds(to float64) (out []Tick) {
	step := 1e-3
	for _, s := range []float64{.001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200} {
		if step = s; to/s <= 6 {
			break
		}
	}
	if to/step > 6 { // longer than half a day: a few ticks for any length
		step *= math.Ceil(to / step / 6)
	}
	for x := 0.0; x <= to*1.0001; x += step {
		out = append(out, Tick{x, amount.Duration(x)})
	}
	return out
}

var figure = template.Must(template.New("figure").Parse(`<figure class="plot"{{with .ID}} id="{{.}}"{{end}}><figcaption><b>{{.Title}}</b>{{with .Unit}} <span class="soft">{{.}}</span>{{end}}
{{range .Lines}}{{if .Name}}<span class="key"><i class="k{{.Color}}"></i>{{.Name}}</span>{{end}}{{end}}</figcaption>
<div class="draw"><svg viewBox="0 0 1000 100" height="{{.Height}}" preserveAspectRatio="none" role="img" aria-label="{{.Title}}">
{{if .Tops}}<path class="grid" d="M0 0H1000M0 50H1000M0 100H1000"/>{{end}}
{{range .Bars}}<rect class="{{.Class}}" x="{{.X}}" y="{{.Y}}" width="{{.W}}" height="{{.H}}"><title>{{.Title}}</title></rect>{{end}}
{{range .Paths}}<path class="{{.Class}}" d="{{.D}}"/>{{end}}</svg>
{{range .Tops}}<span class="up" style="top:{{.At}}%">{{.Text}}</span>{{end}}
{{range .Names}}<span class="row" style="top:{{.At}}%">{{.Text}}</span>{{end}}
{{range .Flags}}<span class="flag" style="left:{{.At}}%" title="{{.Title}}"><span class="{{.Edge}}">{{.Text}}</span></span>{{end}}
<div class="x">{{range .Ticks}}<span class="{{.Edge}}" style="left:{{.At}}%">{{.Text}}</span>{{end}}</div></div>{{with .Note}}<p class="soft note">{{.}}</p>{{end}}</figure>
`))
