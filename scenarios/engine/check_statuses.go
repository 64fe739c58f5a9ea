package engine

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/doorlab/doorlab/scenarios/evidence"
)

// What a step expects of the status and body of its answer, and which of that is no expectation.

// answered is what the step's verb expects of its answer, nil for verbs without expectations.
func (v *Verbs) answered() *Answered {
	if of, ok := v.verb().(interface{ expected() *Answered }); ok {
		return of.expected()
	}
	return nil
}

func (e *Answered) expected() *Answered { return e }

// fitsAll reports an expectation that every answer meets.
func (c *checker) fitsAll(s *Step) {
	a := s.Verbs.answered()
	if a == nil {
		return
	}
	if a.Match != nil {
		if m, ok := a.Match.v.(map[string]Any); a.Match.v == nil || ok && len(m) == 0 {
			c.b.Problem(s.pos, "match is empty: every answer would match")
		}
	}
	if why := evidence.FitsMost(a.Status.codes()); why != "" {
		c.b.Problem(s.pos, "%s", why)
	}
}

// nothingUnexpected reports the name unexpected where nothing is expected of the presentations that it counts.
func (c *checker) nothingUnexpected(s *Step) {
	if p := s.asked().Verbs.PresentEach; p == nil || p.expects() || c.names["unexpected"] {
		return
	}
	exprs := slices.Collect(maps.Values(s.Capture))
	for i := range s.Expect {
		exprs = append(exprs, &s.Expect[i])
	}
	for _, e := range exprs {
		if slices.Contains(slices.Concat(e.Paths, keysOf(e.Names)), "unexpected") || slices.Contains(e.Paths, "it.unexpected") {
			c.b.Problem(e.Pos, "unexpected counts presentations that don't end as expected: give present_each a result or a reason")
		}
	}
}

// codes are the statuses that are known before the run.
func (s Statuses) codes() (out []int) {
	for _, n := range s {
		if code, err := strconv.Atoi(n.raw); err == nil {
			out = append(out, code)
		}
	}
	return out
}

// eitherStatus are the statuses with which the step's request may end if they are written down and fit a success as well as a
// refusal; nil otherwise.
func (s *Step) eitherStatus() []int {
	a := s.asked().Verbs.answered()
	if a == nil {
		return nil
	}
	if codes := a.Status.codes(); len(codes) == len(a.Status) && evidence.FitsBoth(codes) {
		return codes
	}
	return nil
}

// listed applies the rules for lists of statuses to a list from templates.
func (x *frame) listed(e *Answered, codes []int) error {
	if why := evidence.FitsMost(codes); why != "" {
		return &invalid{text: why}
	}
	x.either = evidence.FitsBoth(codes) && len(x.step.Expect) == 0 && e.Match == nil && !e.Error.set()
	return nil
}

// succeeds reports whether no more is required of the body than that it is a success.
func (e Answered) succeeds() bool {
	if e.Match == nil {
		return true
	}
	m, ok := e.Match.v.(map[string]Any)
	_, success := m["success"]
	return ok && success && len(m) == 1
}

// aboutSuccess are parts of a body that say little more than whether it is a success.
var aboutSuccess = evidence.SetOf(`success error message statusCode details`)

// echoed begins the paths of what the lab sets: the answer says what was asked for.
var echoed = regexp.MustCompile(`^/(places|doors|keys|memberships|reservations|server)\b`)

// finds reports whether the request is expected to find a value in the answer that neither its path names nor the lab
// itself has set.
func (c *Control) finds() bool {
	if c.Match == nil || c.ofTheLab() || echoed.MatchString(c.Path.raw) && c.method() != "GET" || strings.HasPrefix(c.Path.raw, "/faults") {
		return false
	}
	parts, _ := c.Match.v.(map[string]Any)
	for name, part := range parts {
		if !aboutSuccess[name] && part.saysMoreThan(c.Path.raw) {
			return true
		}
	}
	return false
}

// saysMoreThan reports whether there is a single value in it that isn't a part of the path.
func (a Any) saysMoreThan(path string) bool {
	more := func(v Any) bool { return v.saysMoreThan(path) }
	switch v := a.v.(type) {
	case map[string]Any:
		return slices.ContainsFunc(slices.Collect(maps.Values(v)), more)
	case []Any:
		return len(v) == 0 || slices.ContainsFunc(v, more)
	case Text:
		return !v.set() || !strings.Contains(path, v.raw)
	}
	return true
}

// eitherWay reports whether the request may succeed or be refused, and nothing else is expected of it.
func (s *Step) eitherWay() bool {
	a := s.Verbs.answered()
	if a == nil || len(s.Expect) > 0 || a.Match != nil || a.Error.set() {
		return false
	}
	return evidence.FitsBoth(a.Status.codes()) && !s.mayBeUnknown(a.Status.codes())
}

// mayBeUnknown reports whether the step claims nothing but CMD-6 and the statuses are those with which a command ends that was in
// progress when something died: whether the report came before nobody can say, and the checker compares either with the relay.
func (s *Step) mayBeUnknown(codes []int) bool {
	claims := s.ownClaims()
	return len(claims) > 0 && !slices.ContainsFunc(claims, func(c string) bool { return c != "CMD-6" }) &&
		!slices.ContainsFunc(codes, func(code int) bool { return code != 200 && code != 504 })
}

// saysFailure reports whether a required part of the body belongs to failures, or identifies one.
func saysFailure(match any) bool {
	m, ok := match.(map[string]any)
	for _, n := range []string{"error", "message", "statusCode", "details", "reason", "detail", "success"} {
		if _, there := m[n]; there {
			return true
		}
	}
	return !ok
}

// matching is the part that the body must contain.
func (e Answered) matching(x *frame) (any, error) {
	want, err := e.Match.eval(x.scope)
	if m, ok := want.(map[string]any); err == nil && (want == nil || ok && len(m) == 0) {
		return nil, &invalid{text: "match is empty: every answer would match"}
	}
	return want, err
}
