package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/scenarios/evidence"
	"github.com/doorlab/doorlab/scenarios/expression"
)

// An expectation about the status replaces the rule that a request must succeed. If the step would pass with the
// opposite answer as well, a refusal instead of a success or a success instead of a refusal, it isn't evidence:
// "status != 500" says nothing about a command. What else a step says (equal answers, a whole body that is searched)
// isn't known of an answer that wasn't given, so such a step isn't tried.

// accepts reports whether what the verb itself expects of an answer is met.
func (v *Verbs) accepts(x *frame, a *answer) bool {
	if v.Command != nil {
		return v.Command.judge(x, a) == nil
	}
	return v.answered().check(x, a, false) == nil
}

// bothWays is an answer that the step would accept although it is the opposite of the one that it got, "" if there is
// none. out is the verb's result.
func (x *frame) bothWays(out fields) string {
	s, asked := x.step, *x
	asked.step = s.asked()
	verbs := &asked.step.Verbs
	answered := verbs.Phone != nil && (verbs.Phone.Answered != nil || len(verbs.Phone.Status) > 1) // which may say nothing about the door
	if len(s.Expect) == 0 && !answered || verbs.Control != nil || slices.ContainsFunc(s.Expect, func(e Expr) bool { return evidence.SpeaksOfMore(&e.Expr) }) {
		return ""
	}
	if verbs.Present != nil || verbs.Phone != nil {
		return x.letInOrNot(out)
	}
	status, err := expression.Number(out["status"])
	if verbs.answered() == nil || err != nil {
		return ""
	}
	if yes, no := bothSeen(out); yes != nil && no != nil {
		if x.holds(allLike(yes, out)) && x.holds(allLike(no, out)) {
			return "to all of its requests"
		}
		return ""
	}
	opposites := evidence.Opposites(int(status))
	if status >= 400 {
		opposites = x.successes(out)
	}
	for _, other := range opposites {
		if s.mayBeUnknown([]int{int(status), other.Status}) {
			continue
		}
		a := answerLike(other)
		if verbs.accepts(&asked, a) && x.fits(a, out) {
			return strings.TrimSpace(fmt.Sprint(a.Status, " ", a.text("error")))
		}
	}
	return ""
}

// successes are what the target might have answered instead of a refusal.
func (x *frame) successes(out fields) []evidence.Answer {
	exprs := each.Of(x.step.Expect, func(e Expr) *expression.Expr { return &e.Expr })
	return append(evidence.Opposites(404), evidence.Fulfilling(exprs, x.with(out).env(), out)...)
}

// fits reports whether the step's expectations come out as the file wants with another answer: to all requests of the
// step, and to every second one.
func (x *frame) fits(a *answer, was fields) bool {
	for _, every := range []int{1, 2} {
		out := maps.Clone(was)
		maps.Copy(out, a.fields())
		if list, ok := was["statuses"].([]any); ok {
			outcome, _, code := outcomeOf(a)
			out["outcome"], out["code"], list = outcome, code, slices.Clone(list)
			for i := 0; i < len(list); i += every {
				list[i] = a.insteadOf(list[i]).Status
			}
			out["statuses"] = list
		}
		if list, ok := was["answers"].([]any); ok {
			list = slices.Clone(list)
			for i := 0; i < len(list); i += every {
				status, _ := member(list[i], "status")
				one := a.insteadOf(status).fields()
				one["headers"], _ = member(list[i], "headers")
				list[i] = one
			}
			out["answers"] = list
		}
		out["headers"] = was["headers"]
		if !x.holds(out) {
			return false
		}
	}
	return true
}

// bothSeen are the first success and the first refusal among the answers to a step's requests, nil if there was none.
func bothSeen(out fields) (yes, no map[string]any) {
	list, _ := out["answers"].([]any)
	for _, e := range list {
		one, _ := e.(map[string]any)
		n, err := expression.Number(one["status"])
		switch succeeded := err == nil && int(n)/100 == 2; {
		case succeeded && yes == nil:
			yes = one
		case !succeeded && no == nil:
			no = one
		}
	}
	return yes, no
}

// allLike is a result with one of its answers to all requests: where some succeeded and some were refused, that is what
// else might have come of it. "at least 15 were refused" can fail then, "each succeeded or was refused" can't.
func allLike(one map[string]any, was fields) fields {
	out := maps.Clone(was)
	maps.Copy(out, one)
	statuses, answers := slices.Clone(was["statuses"].([]any)), slices.Clone(was["answers"].([]any))
	for i := range answers {
		statuses[i], answers[i] = one["status"], one
	}
	out["statuses"], out["answers"] = statuses, answers
	return out
}

// insteadOf is the opposite of one answer among several: a, unless both are successes or both refusals.
func (a *answer) insteadOf(status any) *answer {
	was, err := expression.Number(status)
	if err != nil || (int(was)/100 == 2) != (a.Status/100 == 2) {
		return a
	}
	return answerLike(evidence.Opposites(int(was))[0])
}

// answerLike is an answer that wasn't given.
func answerLike(o evidence.Answer) *answer {
	raw, _ := json.Marshal(o.Body)
	return &answer{Status: o.Status, Raw: raw, Body: o.Body, Headers: map[string]string{}}
}

// holds reports whether the step's expectations come out as the file wants.
func (x *frame) holds(out fields) bool {
	sc := x.with(out)
	for i := range x.step.Expect {
		v, err := x.step.Expect[i].eval(sc)
		b, ok := v.(bool)
		if err != nil || !ok {
			return false
		}
		if x.step.Never != nil {
			if !b {
				return true // one is enough
			}
		} else if !b {
			return false
		}
	}
	return x.step.Never == nil
}

// letInOrNot is bothWays for people at a reader and callers.
func (x *frame) letInOrNot(out fields) string {
	expected := func(fields) error { return nil }
	switch v := &x.step.asked().Verbs; {
	case v.Present != nil:
		expected = func(out fields) error { return x.decided(v.Present.Result, v.Present.Reason, out) }
	case v.Phone != nil:
		expected = func(out fields) error { return v.Phone.judge(x, out) }
	}
	was, _ := out["result"].(string)
	if was == "" {
		return ""
	}
	for _, o := range evidence.OppositeDecisions(was) {
		changed := maps.Clone(out)
		changed["result"], changed["reason"] = o.Result, string(o.Reason)
		if lines, ok := out["journal"].([]any); ok {
			changed["journal"] = relayOf(o, lines)
		}
		if out["status"] != nil { // of a call over SIP
			changed["status"] = statusOfCall[o.Result]
		}
		if expected(changed) == nil && x.holds(changed) {
			return o.Result + " (" + string(o.Reason) + ")"
		}
	}
	return ""
}

// relayOf are the lines of the relay's journal that would have been written with another decision.
func relayOf(o evidence.Decision, lines []any) (out []any) {
	action, cause, grant, pulse := "deny", "onsite", any(nil), any(nil)
	if o.Result == string(vocab.Opened) {
		action, grant, pulse = "pulse", "another grant", 3000.0
	}
	if o.Reason == vocab.FreeWindow {
		cause, grant = "free", nil
	}
	if len(lines) == 0 {
		lines = []any{map[string]any{}}
	}
	for _, l := range lines {
		was, _ := l.(map[string]any)
		line := map[string]any{}
		maps.Copy(line, was)
		line["action"], line["cause"], line["grantId"], line["pulseMs"] = action, cause, grant, pulse
		out = append(out, line)
	}
	return out
}

// evidence takes back that a step that passed asserted something if it had nothing to look at, or if the opposite
// answer would have done as well. If it claims clauses, the file is INVALID unless another of its rows had more.
func (x *frame) evidence(out fields) {
	s, why := x.step, ""
	claims := s.ownClaims()
	if x.hollow && len(s.Expect) == 0 {
		why = "it looked at nothing"
	} else if x.listens(out) {
		why = "it only shows that somebody listens"
	} else if other := x.bothWays(out); other != "" {
		why = "it would have passed with the opposite answer as well (" + other + ")"
	} else if other := x.otherRefusal(out); other != "" {
		why = "it would have passed with another refusal as well (" + other + "), as it doesn't expect the one that is promised"
	} else if s.quiet(x.res) {
		why = "no step in it asserts anything"
	} else if x.either {
		why = "its status fits a success as well as a refusal"
	} else if reason := x.byReason(out); reason != "" {
		why = "the decision's reason was " + reason
		if vocab.Reason(reason) == evidence.LetIn {
			why = "somebody was let in"
		}
	} else {
		why = x.farFrom(claims)
	}
	if why != "" || s.quiet(x.res) {
		x.res.Asserts = false
	}
	x.res.Moot = x.moot(out)
	x.file.watch.Passed(s, s.pos.Line, x.res, claims, why)
	if why == "" {
		x.unnoticed(out)
	}
}

// quiet reports whether a step is only made of steps that asserted nothing.
func (s *Step) quiet(res *StepResult) bool {
	nested := s.Verbs.Group != nil || s.Verbs.Parallel != nil
	return nested && len(s.Expect) == 0 && len(res.Children) > 0 && !evidence.Checked(res.Children)
}
