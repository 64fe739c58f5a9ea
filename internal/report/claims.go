package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/judge"
)

// situations are guarantees that nothing shows but the situation that they are about. A step can claim others next to
// those that fit, for what it alone sees, such as a field of an answer.
var situations = []string{"AUTH-3", "AUTH-5", "CMD-8", "PERM-3", "PERM-6", "SYNC-1", "SYNC-2", "SYNC-3", "OFF-1", "OFF-2"}

// bySuccess are guarantees that a mere success may show without any checker: the command came in time, or a closed window
// didn't stop an API key.
var bySuccess = []string{"CMD-4", "ENT-2"}

// claims makes a file INVALID that names a clause without evidence for it.
func (res *Result) claims() {
	if res.Random {
		return
	}
	all := evidenceOf(res.told, res.Verdicts)
	for i := range res.Files {
		e, ok := res.alone[i]
		if !ok {
			e = all
		}
		if f := &res.Files[i]; f.Status == judge.Pass {
			if why := e.lacks(f, len(res.Scores) > 0); why != "" {
				f.Status, f.Reason = judge.Invalid, why
			}
		}
	}
}

// evidence is what the checkers say of each clause.
type evidence struct {
	told    bool // there is a history
	counted map[string]bool
	untried map[string][]string // why it wasn't put to the test
	cases   map[string][]judge.Occasion
}

// unseen reports whether the clause's checker saw nothing that the clause is about.
func (e *evidence) unseen(clause string) bool {
	return e.told && !e.counted[clause] && judge.HasChecker(clause)
}

// missing says what a clause lacks: nobody checked it, or nothing put it to the test; "" for nothing.
func (e *evidence) missing(clause string) string {
	switch {
	case len(e.untried[clause]) > 0:
		return strings.Join(e.untried[clause], "; ")
	case e.unseen(clause):
		return "the situation that " + clause + " is about never arose (docs/evidence.md lists what has to happen)"
	}
	return ""
}

// lacks is why a file's claims aren't shown, "" if they are. It may be that
//   - neither a step nor a checker had evidence for one of them,
//   - a clause that the file is about, or that only its situation shows, was never put to the test, nor was any that it claims,
//   - no checker saw one that only steps claim that say no more than that a command or a try at a door succeeds,
//   - nothing that the clauses of a decisive step are about happened, or it happened elsewhere,
//   - or what happened says nothing about a clause wherever it is claimed.
func (e *evidence) lacks(f *FileResult, keysOnly bool) string {
	c := claimed{clauses: map[string]bool{}, shown: map[string]bool{}, unfit: map[string]string{}, at: map[string][]*Step{}}
	for _, clause := range f.Clauses {
		c.clauses[clause] = true
	}
	c.collect(f.Steps, keysOnly)
	all := slices.Sorted(maps.Keys(c.clauses))
	none := !slices.ContainsFunc(all, func(clause string) bool { return e.missing(clause) == "" })
	for _, clause := range all {
		if !c.shown[clause] && !e.counted[clause] {
			return "it claims " + clause + ", but nothing in it could have failed for that"
		}
		why := e.missing(clause)
		if why != "" && (none || slices.Contains(f.Clauses, clause) || slices.Contains(situations, clause)) {
			return "it claims " + clause + ", but " + why
		}
		if at := c.at[clause]; e.unseen(clause) && !slices.Contains(bySuccess, clause) && len(at) > 0 && !slices.ContainsFunc(at, func(s *Step) bool { return !s.Plain }) {
			return fmt.Sprintf("line %d claims %s and expects no more than a success, but %s", at[0].Line, clause, why)
		}
	}
	for _, of := range c.together {
		if !slices.ContainsFunc(of.clauses, func(clause string) bool { return !e.unseen(clause) }) {
			return fmt.Sprintf("line %d claims %s, but %s", of.line, of.clauses[0], e.missing(of.clauses[0]))
		}
	}
	for _, clause := range all {
		cases, why := telling(clause, e.cases[clause], f.Steps)
		why = cmp.Or(why, c.mute(clause), c.elsewhere(clause, cases, max(0, f.Prepared.UnixNano())))
		if why != "" {
			return why
		}
	}
	for _, clause := range slices.Sorted(maps.Keys(c.unfit)) {
		if !c.clauses[clause] {
			return "it claims " + clause + ", but only where " + c.unfit[clause]
		}
	}
	return ""
}

// claimed are the clauses that a file or its steps claim, those that steps show, and by why those about which what happened
// says nothing.
type claimed struct {
	clauses, shown map[string]bool
	unfit          map[string]string
	together       []together
	at             map[string][]*Step // the steps that claim each, and passed
}

// decisive are the verbs whose result is what somebody decided or a relay did. Something that they claim has to have
// happened, whereas the answer of a call has fields that a step may look at for their own sake.
var decisive = []string{"command", "journal", "link", "phone", "present", "present_each", "wait"}

// together are the clauses that such a step, or one of its expectations, claims.
type together struct {
	line    int
	clauses []string
}

// collect goes through the steps. keysOnly: those were left out that need a control listener.
func (c *claimed) collect(steps []*Step, keysOnly bool) {
	for _, s := range steps {
		if keysOnly && s.Status == judge.Skipped {
			continue
		}
		if len(s.Children) == 0 || s.Children[0].Line != s.Line { // else its rows have its claims
			c.add(s, s.Clauses, s.Asserts && s.Status == judge.Pass)
			c.decided(s, s.Clauses)
		}
		for _, ch := range s.Charges {
			c.add(s, ch.Clauses, true)
			c.decided(s, ch.Clauses)
		}
		maps.Copy(c.unfit, s.Unfit)
		c.collect(s.Children, keysOnly)
	}
}

func (c *claimed) decided(s *Step, clauses []string) {
	if len(clauses) > 0 && s.Status == judge.Pass && slices.Contains(decisive, s.Verb) {
		c.together = append(c.together, together{s.Line, clauses})
	}
}

func (c *claimed) add(s *Step, clauses []string, shows bool) {
	for _, clause := range clauses {
		c.clauses[clause] = true
		if s.Status == judge.Pass {
			c.at[clause] = append(c.at[clause], s)
		}
		if shows {
			c.shown[clause] = true
		}
	}
}
