package engine

import (
	"cmp"
	"slices"
	"strings"
)

// claimsNothing reports clauses at a step that can't fail for them. Whether an expectation can is found out when it is
// met, with the answers at hand.
func (c *checker) claimsNothing(s *Step) {
	claims := s.ownClaims()
	if len(claims) == 0 {
		return
	}
	if s.eitherWay() {
		c.b.Problem(s.pos, "status fits a success as well as a refusal, and nothing else is expected: claim %s at a step that tells them apart", strings.Join(claims, ", "))
		return
	}
	if s.asserts {
		c.claimsOther(s, claims)
		return
	}
	what, list := cmp.Or(s.verbName(), "a step"), strings.Join(claims, ", ")
	switch v := &s.Verbs; {
	case v.Key != nil, v.Place != nil, v.Door != nil: // the server may refuse it: the claim is odd, and counts for nothing
	case v.lab(), len(s.Expect) == 0 && v.Leaf != nil:
		c.b.Problem(s.pos, "%s can't fail whatever the target does, so it is evidence for no guarantee: claim %s at the step that checks what follows", what, list)
	case v.alive():
		c.b.Problem(s.pos, "%s only shows that the server listens, which is evidence for no guarantee: claim %s at the step that checks it", v.Call.Path.raw, list)
	case v.all() != nil:
		c.b.Problem(s.pos, "the condition all holds whatever the target does, so this %s step is evidence for no guarantee: expect something that can fail, or claim %s at the step that checks it", what, list)
	case !s.expects() && !v.judged():
		c.b.Problem(s.pos, "%s without an expectation can't fail whatever the target does, so it is evidence for no guarantee: add what you expect, or claim %s at the step that checks it", what, list)
	}
}

// claimsOther reports clauses at a step that can fail, but for other guarantees.
func (c *checker) claimsOther(s *Step, claims []string) {
	var others []string
	for _, clause := range claims {
		if (!s.shows(clause, c.running) || s.chooses(clause, c.did)) && !slices.Contains(others, clause) {
			others = append(others, clause)
		}
	}
	if len(others) > 0 {
		list, hint := strings.Join(others, ", "), ""
		if slices.ContainsFunc(others, s.maybeLater) {
			hint = ", or leave out within and eventually, because it promises something at once"
		}
		if call := s.Verbs.Call; call != nil && len(others) == 1 {
			if parts := call.partsFor(others[0]); parts != "" {
				hint = ", or expect something here of " + strings.Join(strings.Fields(parts), ", ")
			}
		}
		c.b.Problem(s.pos, "what this %s finds isn't evidence for %s: claim %s at a step that checks what it promises%s", strings.TrimSpace(s.verbName()+" step"), list, list, hint)
	}
}

// claimsWithoutStep reports clauses of the file that none of its steps, the set-up aside, can be evidence for.
func (c *checker) claimsWithoutStep(d *Doc) {
	at := c.b.ValueAt("clauses")
	for _, clause := range d.Clauses {
		if !c.b.Failed() && !anyTries(d.Steps, clause, c.running) {
			c.b.Problem(at, "the file claims %s, but nothing that its steps do is evidence for it: add a step that checks it, or leave the clause out (a set-up proves nothing)", clause)
		}
	}
}

// anyTries reports whether one of the steps can fail and be evidence for the clause.
func anyTries(steps []Step, clause string, background map[string]*Step) bool {
	return slices.ContainsFunc(steps, func(s Step) bool {
		return anyTries(s.nested(), clause, background) || (s.asserts || s.Verbs.judged()) && s.shows(clause, background)
	})
}

// expects reports whether the step, or a step in it, has an expectation.
func (s *Step) expects() bool {
	return len(s.Expect) > 0 || slices.ContainsFunc(s.nested(), func(s Step) bool { return s.expects() })
}

// lab reports whether the verb's result is only what the lab itself did or named.
func (v *Verbs) lab() bool {
	return v.Log != nil || v.Pause != nil || v.Mark != nil || v.Set != nil || v.Cohort != nil || v.Clock != nil || v.Fault != nil ||
		v.Clear != nil || v.Disk != nil
}

// lives are paths whose answer only says that the server listens, and nothing about a guarantee.
var lives = map[string]bool{"/livez": true, "/readyz": true, "/version": true}

func (v *Verbs) alive() bool { return v.Call != nil && onlyLives(v.Call.Path.raw) }

func onlyLives(path string) bool {
	path, _, _ = strings.Cut(path, "?")
	path, _, _ = strings.Cut(path, "#")
	return lives[strings.TrimRight(path, "/")]
}

// ofTheLab reports whether the request asks what the lab itself has set: the time, the places, the armed faults.
func (c *Control) ofTheLab() bool {
	path, _, _ := strings.Cut(c.Path.raw, "?")
	path = strings.TrimRight(path, "/")
	read := c.Method == "" || c.Method == "GET"
	return path == "/clock" || strings.HasPrefix(path, "/clock/") || read && (path == "/places" || path == "/faults")
}

// judged reports whether the checkers judge what the verb has others do, whatever the step expects of it.
func (v *Verbs) judged() bool {
	return v.Command != nil || v.Present != nil || v.PresentEach != nil || v.Phone != nil || v.Load != nil || v.Crash != nil
}

// refused reports whether the request is expected to break a rule: that it succeeds, or leads nowhere, says only that
// the listener works.
func (c *Control) refused() bool {
	for _, n := range c.Status {
		if n.raw == "404" || n.raw == "405" || !strings.HasPrefix(n.raw, "4") && !strings.HasPrefix(n.raw, "5") {
			return false
		}
	}
	if c.Error.raw == "not_found" || c.Error.raw == "method_not_allowed" {
		return false
	}
	return len(c.Status) > 0 || c.Error.set()
}
