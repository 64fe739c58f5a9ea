package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/judge"
)

// Score is how much of a guarantee a run with only API keys can show, and did.
type Score struct {
	Clause   string `json:"clause"`
	Checks   int    `json:"checks"`           // steps of the files that are evidence for it
	Possible int    `json:"possible"`         // of these, possible with only API keys
	Held     int    `json:"held"`             // of these, played on this target and held
	Broken   int    `json:"broken,omitempty"` // ... and failed
}

// String is the line of a report.
func (s Score) String() string {
	out := fmt.Sprintf("%s · %d of %d checks possible with a key only, %d passed", s.Clause, s.Possible, s.Checks, s.Held)
	if s.Broken > 0 {
		out += fmt.Sprintf(", %d broken", s.Broken)
	}
	if left := s.Possible - s.Held - s.Broken; left > 0 {
		out += fmt.Sprintf(", %d not run", left)
	}
	return out
}

// score counts for each guarantee the steps that held and those that didn't. All rows of a table count as one step.
func (res *Result) score() {
	for i := range res.Scores {
		s := &res.Scores[i]
		s.Held, s.Broken = 0, 0
		for _, f := range res.Files {
			held := map[int]bool{} // by line
			outcomes(f.Steps, s.Clause, held)
			for _, ok := range held {
				if ok {
					s.Held++
				} else {
					s.Broken++
				}
			}
		}
	}
}

// addScores adds up the checks of two selections of files; what held is counted later.
func addScores(a, b []Score) []Score {
	out := slices.Clone(a)
	for _, s := range b {
		i := slices.IndexFunc(out, func(o Score) bool { return o.Clause == s.Clause })
		if i < 0 {
			out = append(out, s)
			continue
		}
		out[i].Checks += s.Checks
		out[i].Possible += s.Possible
	}
	return out
}

// outcomes are the steps that were evidence for a guarantee, by line, and whether they held.
func outcomes(steps []*Step, clause string, held map[int]bool) {
	note := func(line int, status judge.Status) {
		if was, known := held[line]; status == judge.Pass {
			held[line] = was || !known
		} else if status != judge.Skipped {
			held[line] = false
		}
	}
	for _, s := range steps {
		outcomes(s.Children, clause, held)
		if len(s.Children) > 0 || !s.Asserts {
			continue
		}
		charged := each.If(s.Charges, func(ch Charge) bool { return slices.Contains(ch.Clauses, clause) })
		for _, ch := range charged {
			note(s.Line, ch.Status)
		}
		if len(charged) == 0 && slices.Contains(s.Clauses, clause) {
			note(s.Line, s.Status)
		}
	}
}

// scores are the lines of the guarantees that could be shown in part, and the names of the others.
func (res Result) scores() (lines []string, none string) {
	var rest []string
	for _, s := range res.Scores {
		if s.Possible > 0 {
			lines = append(lines, s.String())
		} else {
			rest = append(rest, s.Clause)
		}
	}
	return lines, strings.Join(rest, " ")
}

// tellScores writes them for a terminal or a text file.
func (res Result) tellScores(b *strings.Builder) {
	lines, none := res.scores()
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, "\nwith API keys only (docs/conformance.md):\n  %s\n  nothing can be shown about %s\n", strings.Join(lines, "\n  "), none)
}
