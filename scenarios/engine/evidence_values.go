package engine

import (
	"maps"
	"slices"

	"github.com/doorlab/doorlab/scenarios/evidence"
)

// unnoticed notes what the step would not have noticed, had the target broken what the step or a group around it claims.
func (x *frame) unnoticed(out fields) {
	s := x.step
	if x.file.setup.Load() || x.res.Plain || !s.asserts {
		return
	}
	values := evidence.Values{Own: map[string]string{}, Outer: map[string]string{}}
	for i := range s.Verbs.nested() {
		values.Inside = append(values.Inside, &s.Verbs.nested()[i])
	}
	for _, clause := range s.ownClaims() {
		values.Own[clause], _ = x.breachOf(clause, out)
	}
	for _, clause := range s.outer {
		if what, known := x.breachOf(clause, out); known {
			values.Outer[clause] = what
		}
	}
	x.file.watch.Values(s, s.pos.Line, x.res, values)
}

// breachOf is the first of the results that would break the clause, if the step would have passed with each of them, and
// whether any is known.
func (x *frame) breachOf(clause string, out fields) (what string, known bool) {
	s, asked := x.step, x.step.asked()
	if len(evidence.Breaches(clause, out, x.kept(out))) > 0 { // another step may tell
		return "", false
	}
	said := evidence.Said{Env: x.with(out).env()}
	for i := range s.Expect {
		said.Exprs = append(said.Exprs, &s.Expect[i].Expr)
	}
	if s.Never == nil {
		if what, known = x.file.past.Breach(clause, said); known {
			return what, true
		}
	}
	if all := asked.Verbs.all(); all != nil {
		said.Exprs = append(said.Exprs, &all.Expr)
	}
	breaches := evidence.Breaches(clause, out, said)
	for _, b := range breaches {
		if !x.content(&asked.Verbs, b.Out) {
			return "", true
		}
	}
	if len(breaches) == 0 {
		return "", false
	}
	return breaches[0].What, true
}

// kept is what the step captures of its result.
func (x *frame) kept(out fields) (said evidence.Said) {
	said.Env = x.with(out).env()
	for _, name := range slices.Sorted(maps.Keys(x.step.Capture)) {
		said.Exprs = append(said.Exprs, &x.step.Capture[name].Expr)
	}
	return said
}

// content reports whether the step would have passed with another result.
func (x *frame) content(v *Verbs, out fields) bool {
	switch {
	case v.Present != nil && x.decided(v.Present.Result, v.Present.Reason, out) != nil:
		return false
	case v.Phone != nil && v.Phone.judge(x, out) != nil:
		return false
	case v.Boards != nil:
		return x.eachHolds(v.Boards.All, v.Boards.AtLeast, out["boards"]) && x.holds(out)
	case v.Journal != nil:
		return x.eachHolds(v.Journal.All, v.Journal.AtLeast, out["lines"]) && x.holds(out)
	case v.Records != nil:
		return x.eachHolds(v.Records.All, v.Records.AtLeast, out["records"]) && x.holds(out)
	case v.Events != nil:
		return x.eachHolds(v.Events.All, v.Events.AtLeast, out["events"]) && x.holds(out)
	}
	return x.holds(out)
}

// eachHolds reports whether there are enough elements, and the condition holds for each.
func (x *frame) eachHolds(all *Expr, least *Num, elements any) bool {
	list, _ := elements.([]any)
	def := 1
	if all == nil {
		def = 0
	}
	if len(list) < x.count(least, def) {
		return false
	}
	for _, e := range list {
		m, _ := e.(map[string]any)
		if all != nil && all.unmet(x.scope.child(maps.Clone(m))) != nil {
			return false
		}
	}
	return true
}
