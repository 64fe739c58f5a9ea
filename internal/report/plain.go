package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/judge"
)

// shownLines bounds how much plain-text reports show of a body or list.
const shownLines = 30

// Text is a failure as plain text: what the page shows, without the picture. JUnit, TAP, the job summary and report.txt
// contain it.
func (f Failure) Text() string {
	var b strings.Builder
	b.WriteString(f.Why + "\n")
	if where := f.Where(); where != "" {
		fmt.Fprintf(&b, "\nat %s\n", where)
	}
	for _, l := range f.YAML {
		mark := "|"
		if l.Here {
			mark = ">"
		}
		fmt.Fprintf(&b, "%5d %s %s\n", l.Line, mark, l.Text)
	}
	for _, x := range f.Exchanges() {
		b.WriteString("\n" + x.Text())
	}
	if f.Step != nil {
		for _, e := range f.Step.Evidence {
			fmt.Fprintf(&b, "\n%s: %s\n", e.Name, amount.Many(e.Count, "item"))
			for _, item := range e.Items {
				b.WriteString("  " + item + "\n")
			}
		}
	}
	if f.Bad != nil {
		b.WriteString("\n")
		_ = judge.WriteTimeline(&b, f.Bad.Timeline, f.Bad.Event.Seq) // into memory
	}
	return b.String()
}

// brief is what a terminal shows of a failure: why, where, and a breach's timeline.
func (f Failure) brief() string {
	var b strings.Builder
	b.WriteString(f.Why + "\n")
	if where := f.Where(); where != "" {
		fmt.Fprintf(&b, "at %s\n", where)
	}
	if all := f.Exchanges(); len(all) > 0 {
		x := all[len(all)-1]
		fmt.Fprintf(&b, "last request: %s %s, %s\n", x.Method, x.URL, cmp.Or(x.Error, fmt.Sprintf("answer %d", x.Status)))
	}
	if f.Bad != nil {
		_ = judge.WriteTimeline(&b, f.Bad.Timeline, f.Bad.Event.Seq) // into memory
	}
	return b.String()
}

// Text is a request and its answer as plain text.
func (x Exchange) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n%s", x.Method, x.URL, indented(x.Request))
	if x.Note != "" {
		fmt.Fprintf(&b, "(%s)\n", x.Note)
	}
	if x.Status == 0 {
		fmt.Fprintf(&b, "no answer: %s\n", x.Error)
		return b.String()
	}
	fmt.Fprintf(&b, "answer %d after %.0f ms\n%s", x.Status, x.Ms, indented(x.Answer))
	return b.String()
}

// indented is a body indented by two columns and cut after some lines.
func indented(text string) string {
	if text = strings.TrimSpace(text); text == "" {
		return ""
	}
	lines := strings.Split(pretty(text), "\n")
	if len(lines) > shownLines {
		lines = append(lines[:shownLines], fmt.Sprintf("… (%d lines more)", len(lines)-shownLines))
	}
	return "  " + strings.Join(lines, "\n  ") + "\n"
}
