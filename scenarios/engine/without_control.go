package engine

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/report"
)

// What a run can show with API keys but without a control listener: no boards, no time, no operator. Files that need
// those are SKIPPED. In the others, a step that would only look at boards or journals, and whose results nothing uses,
// is SKIPPED on its own.

const needsControl = "needs a control listener"

// looks reports whether the step changes nothing and no other step uses its results.
func (s *Step) looks() bool {
	return (s.Journal != nil || s.Boards != nil || s.Synced != nil) && len(s.Capture) == 0 && s.Background == ""
}

// KeysDo reports whether a file can be played with API keys only.
func (f *File) KeysDo() bool {
	n := f.Doc.Needs
	if n.Control || n.Virtual || n.Fleet {
		return false
	}
	ok := true
	eachStep(func(s *Step) {
		u := s.needs()
		ok = ok && !u.virtual && !u.load && (!u.control || s.looks())
	}, f.Doc.Setup, f.Doc.Steps)
	return ok
}

// shut reports whether the step is left out because boards can't be looked at.
func (r *run) shut(s *Step) bool { return r.lab == nil && s.looks() }

// keysOnly reports whether the target is known only by its public API.
func (r *run) keysOnly() bool { return r.lab == nil && len(r.target.Control) == 0 }

// elsewhere says that the target's clock is too far off for a file to be played with keys only, "" if it isn't.
func (r *run) elsewhere() string {
	if !r.keysOnly() {
		return ""
	}
	return client.Off(r.target.Ahead)
}

// Conformance says for each guarantee how many checks the files make, and how many of them need only API keys.
func Conformance(files []*File) []report.Score {
	checks, possible := map[string]int{}, map[string]int{}
	for _, f := range files {
		plays := f.KeysDo()
		eachStep(func(s *Step) {
			for _, c := range s.evidenceFor() {
				checks[c]++
				if plays && !s.looks() {
					possible[c]++
				}
			}
		}, f.Doc.Steps)
	}
	return each.Of(judge.Clauses(), func(c string) report.Score { return report.Score{Clause: c, Checks: checks[c], Possible: possible[c]} })
}

// evidenceFor are the guarantees for which a step can be evidence: its own, and those of its expectations. A step with
// children leaves that to the children.
func (s *Step) evidenceFor() (out []string) {
	if _, nested := s.verb().(*Steps); nested || !s.asserts {
		return nil
	}
	out = s.ownClaims()
	slices.Sort(out)
	return slices.Compact(out)
}

// leaveKeys puts back what a file changed over the public API.
func (r *run) leaveKeys(ctx context.Context, res *Result) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveWithin)
	defer cancel()
	if err := r.putBack(ctx); err != nil && res.Trouble == "" {
		res.Trouble = "the target could not be put back as it was: " + err.Error()
	}
}

// keepHours reads a place's opening hours by changing no day.
func (r *run) keepHours(ctx context.Context, id string) error {
	name, path := "hours "+id, "/core/v1/places/"+esc(id)
	if r.undo.has(name) || r.dir.places[id] == nil {
		return nil
	}
	var week any                                       // nil until it is known
	r.undo.add(name, func(ctx context.Context) error { // registered before reading, which is a PATCH, too
		if week == nil {
			return nil
		}
		return r.must(ctx, id, http.MethodPatch, path, map[string]any{"hours": map[string]any{"week": week}})
	})
	a, err := r.read(ctx, id, http.MethodPatch, path, map[string]any{"hours": map[string]any{"week": map[string]any{}}})
	if err != nil {
		return fmt.Errorf("the opening hours can't be read: %w", err)
	}
	week = a.value("data", "hours", "week")
	return nil
}
