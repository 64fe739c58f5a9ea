package report

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/mask"
	"github.com/doorlab/doorlab/internal/plot"
)

// Failure is one thing that keeps a run from PASS, with everything needed to understand it. Every report starts with
// these.
type Failure struct {
	ID      string // anchor of the page
	Status  judge.Status
	Title   string
	File    string // of the scenario; "" = of none
	Line    int    // 0 = of no step
	Why     string
	Clauses []string
	YAML    []Source   // of the step
	Step    *Step      // nil: no step
	Bad     *judge.Bad // the first breach of a guarantee; nil: a step's
	// Requests illustrate a load's broken threshold; a step has its own.
	Requests []Exchange
	Course   []plot.Chart // of the scenario by itself, with its first failure
	of       *FileResult  // nil = of none
}

// Where is the position in a scenario file, in the form that editors can follow, and which of its plays it was.
func (f Failure) Where() string {
	out := f.File
	if f.Line != 0 {
		out = fmt.Sprintf("%s:%d", f.File, f.Line)
	}
	if f.of != nil {
		out += bracketed(f.of.play())
	}
	return out
}

// In is the name of the scenario, "" if it says no more than the failure's title or the file's name.
func (f Failure) In() string {
	if f.of == nil || f.of.Name == f.Title || f.of.Name == stem(f.of.Path) {
		return ""
	}
	return f.of.Name
}

// Exchanges are the requests that show the failure, the most telling one last.
func (f Failure) Exchanges() []Exchange {
	if f.Step != nil {
		return f.Step.Exchanges
	}
	return f.Requests
}

// Source is one line of a scenario file.
type Source struct {
	Line int
	Text string
	Here bool // the failure's own line
}

// Failures lists what keeps a run from PASS: broken guarantees, then steps in the order of their files, then whatever
// belongs to no step.
func Failures(res Result) (out []Failure) {
	ids := map[string]int{}
	add := func(f Failure, id string) {
		id = slug(id)
		if ids[id]++; ids[id] > 1 {
			id = fmt.Sprintf("%s-%d", id, ids[id])
		}
		f.ID = id
		out = append(out, f)
	}
	for _, r := range res.Ledger {
		if r.FirstBad != nil {
			add(breach(res, r), "breach-"+r.Clause)
		}
	}
	for i := range res.Files {
		f := &res.Files[i]
		found := false
		for _, l := range named(f.Steps, "") {
			s := l.step
			if s.Status == judge.Pass || s.Status == judge.Skipped {
				continue
			}
			found = true
			add(Failure{Status: s.Status, Title: titled(l), File: f.Path, Line: s.Line, Why: s.Detail, Clauses: s.Clauses, YAML: excerpt(f.Source, s.Line), Step: s, of: f},
				fmt.Sprintf("%s-%d", stem(f.Path), s.Line))
		}
		if status, why := f.own(); !found && status != judge.Pass && status != judge.Skipped { // what checkers found is told with its guarantee
			add(Failure{Status: status, Title: f.Name, File: f.Path, Why: why, Clauses: f.Clauses, of: f}, stem(f.Path))
		}
	}
	for _, r := range res.Ledger {
		if r.Status == judge.Invalid {
			add(Failure{Status: r.Status, Title: r.Clause + " " + r.Promise, Why: r.Number, Clauses: []string{r.Clause}}, "unproven-"+r.Clause)
		}
	}
	whole := res.whole
	if whole.Status == "" && len(out) == 0 && res.Status != judge.Pass {
		whole = Failure{Status: res.Status, Why: res.Reason}
	}
	if whole.Status != "" {
		whole.Title = "The run as a whole"
		add(whole, "run")
	}
	return out
}

// titled is the title of a failed step. A call's own title has its path as the file has it, so that it is the same in
// every run; a failure says what was called.
func titled(l leaf) string {
	s := l.step
	own, row, _ := strings.Cut(s.Name, " [")
	if s.Verb != "call" || len(s.Exchanges) == 0 || !strings.HasPrefix(own, "call ") || !strings.Contains(own, "${") || !strings.HasSuffix(l.name, s.Name) {
		return l.name
	}
	last := s.Exchanges[len(s.Exchanges)-1]
	if row != "" {
		row = " [" + row
	}
	return strings.TrimSuffix(l.name, s.Name) + "call " + last.Method + " " + last.URL + row
}

// ofRun reports whether it is the failure of the run as a whole.
func (f Failure) ofRun() bool { return f.File == "" && len(f.Clauses) == 0 }

var unsafe = regexp.MustCompile(`[^0-9A-Za-z_.-]+`)

func slug(s string) string { return unsafe.ReplaceAllString(s, "-") }

// breach is a broken guarantee, and the step that was playing when it happened.
func breach(res Result, r judge.Row) Failure {
	out := Failure{Status: r.Status, Title: r.Clause + " " + r.Promise, Why: r.Number, Clauses: []string{r.Clause}, Bad: r.FirstBad}
	world := res.where[r.Clause]
	for i := range res.Events {
		if e := &res.Events[i]; e.Kind == history.World {
			world = worldOf(e)
		} else if *e == r.FirstBad.Event {
			break
		}
	}
	at := wall(&r.FirstBad.Event)
	if at.IsZero() {
		return out
	}
	for i := range res.Files {
		f := &res.Files[i]
		if world != "" && f.world() != world || world == "" && !during(at, f.Started, f.Seconds) { // its own world comes to rest after it
			continue
		}
		out.File, out.of = f.Path, f
		if s := blamed(playing(f.Steps, at), r.Clause); s != nil {
			out.Line, out.YAML = s.Line, excerpt(f.Source, s.Line)
		}
		break
	}
	return out
}

func during(at, from time.Time, seconds float64) bool {
	return !at.Before(from) && !at.After(from.Add(time.Duration(seconds*float64(time.Second))))
}

// playing are the innermost steps that were playing at a time; there may be several, in the background.
func playing(steps []*Step, at time.Time) (out []*Step) {
	for _, s := range steps {
		if inner := playing(s.Children, at); len(inner) > 0 {
			out = append(out, inner...)
		} else if during(at, s.Started, s.Seconds) {
			out = append(out, s)
		}
	}
	return out
}

// blamed is the step under which a breach is shown: one about the clause, or else the latest; nil for none.
func blamed(steps []*Step, clause string) (found *Step) {
	for _, s := range steps {
		if slices.Contains(s.Clauses, clause) {
			return s
		}
		found = s
	}
	return found
}

// excerptLines bounds how much of a step is shown, linesBefore of what is written above it: usually the steps that led to it.
const excerptLines, linesBefore = 40, 2

// excerpt is a step as written in its file: its line, what is indented below it, and a little of what is above.
func excerpt(source []byte, line int) (out []Source) {
	lines := strings.Split(mask.Text(string(source)), "\n")
	if line < 1 || line > len(lines) || len(source) == 0 {
		return nil
	}
	first := lines[line-1]
	depth := indent(first)
	for i := max(line-linesBefore, 1); i < line; i++ {
		out = append(out, Source{Line: i, Text: strings.TrimRight(lines[i-1], " \r")})
	}
	for i, text := range lines[line-1:] {
		if i > 0 && strings.TrimSpace(text) != "" && indent(text) <= depth {
			break
		}
		if i == excerptLines {
			out = append(out, Source{Line: line + i, Text: "…"})
			break
		}
		out = append(out, Source{Line: line + i, Text: strings.TrimRight(text, " \r"), Here: i == 0})
	}
	for len(out) > 1 && strings.TrimSpace(out[len(out)-1].Text) == "" {
		out = out[:len(out)-1]
	}
	return out
}

func indent(s string) int { return len(s) - len(strings.TrimLeft(s, " ")) }
