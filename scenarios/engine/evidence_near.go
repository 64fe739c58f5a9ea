package engine

import (
	"fmt"
	"maps"
	"slices"

	"github.com/doorlab/doorlab/scenarios/evidence"
	"github.com/doorlab/doorlab/scenarios/expression"
)

// otherRefusal is a refusal that the step would accept in place of the one that it got, although its clauses promise that
// one; "" if it tells the two apart for one of its clauses.
func (x *frame) otherRefusal(out fields) (other string) {
	s, asked := x.step, *x
	asked.step = s.asked()
	verbs := &asked.step.Verbs
	if verbs.Control != nil || verbs.answered() == nil || slices.ContainsFunc(s.Expect, func(e Expr) bool { return evidence.SpeaksOfMore(&e.Expr) }) {
		return ""
	}
	for _, clause := range s.ownClaims() {
		if other = x.instead(clause, out, func(a *answer) bool { return verbs.accepts(&asked, a) }); other == "" {
			return ""
		}
	}
	return other
}

// instead is a refusal that the step would accept in place of one that the clause promises.
func (x *frame) instead(clause string, out fields, accepts func(*answer) bool) string {
	several, _ := out["statuses"].([]any)
	for _, status := range append([]any{out["status"]}, several...) {
		got, err := expression.Number(status)
		if err != nil {
			continue
		}
		for _, o := range evidence.OtherRefusals(clause, int(got)) {
			if a := answerLike(o); accepts(a) && x.holds(a.inPlaceOf(int(got), out)) {
				return fmt.Sprint(a.Status, " ", a.text("error"))
			}
		}
	}
	return ""
}

// inPlaceOf is a result in which a stands for each answer with a status.
func (a *answer) inPlaceOf(status int, was fields) fields {
	out := maps.Clone(was)
	is := func(v any) bool {
		n, err := expression.Number(v)
		return err == nil && int(n) == status
	}
	if is(was["status"]) {
		maps.Copy(out, a.fields())
		out["outcome"], _, out["code"] = outcomeOf(a)
		out["headers"] = was["headers"]
	}
	statuses, _ := was["statuses"].([]any)
	answers, _ := was["answers"].([]any)
	if statuses == nil || answers == nil {
		return out
	}
	statuses, answers = slices.Clone(statuses), slices.Clone(answers)
	for i := range statuses {
		if is(statuses[i]) {
			one := a.fields()
			one["headers"], _ = member(answers[i], "headers")
			statuses[i], answers[i] = one["status"], one
		}
	}
	out["statuses"], out["answers"] = statuses, answers
	return out
}
