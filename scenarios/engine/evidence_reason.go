package engine

import (
	"fmt"
	"slices"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/scenarios/evidence"
)

// Why a door opened or didn't decides, too, what the step can be evidence for: whoever is denied because a permit has
// ended says nothing about how fast its revocation arrived, and whoever comes in by a free window nothing about
// permits.

// reason is why the step's people came in or didn't: "" if it decided nothing, or not for all of them alike.
func (x *frame) reason(out fields) vocab.Reason {
	v, reason := &x.step.asked().Verbs, ""
	switch {
	case v.Present != nil, v.Phone != nil:
		if reason, _ = out["reason"].(string); v.Phone != nil && v.Phone.Over.set() && out["result"] == string(vocab.Opened) {
			reason = string(vocab.Phone) // or a free window: the answer doesn't tell
		}
	case v.PresentEach != nil:
		if reasons, _ := out["reasons"].(map[string]any); len(reasons) == 1 {
			reason = keysOf(reasons)[0]
		}
	case v.Link != nil && v.Link.Door.set():
		details, _ := out["details"].(map[string]any)
		reason, _ = details["rule"].(string)
		switch {
		case out["error"] == string(vocab.LinkInvalid):
			reason = string(vocab.LinkInvalid)
		case out["status"] == 200: // a free window, too: the answer doesn't tell
			reason = string(vocab.Link)
		}
	}
	if slices.Contains([]vocab.Method{vocab.Onsite, vocab.Phone, vocab.Link}, vocab.Method(reason)) {
		return evidence.LetIn
	}
	return vocab.Reason(reason)
}

// byReason takes those of the step's clauses back for which the reason of its decision is no evidence. It returns the
// reason if none is left.
func (x *frame) byReason(out fields) string {
	reason, claims := x.reason(out), x.step.ownClaims()
	if len(claims) == 0 {
		return ""
	}
	fits := func(clause string) bool { return evidence.OfReason(reason, clause) }
	if !slices.ContainsFunc(claims, fits) {
		return string(reason)
	}
	for _, c := range claims {
		if !fits(c) {
			each.Put(&x.res.Unfit, c, fmt.Sprintf("the decision had another reason (line %d: %s)", x.step.pos.Line, reason))
		}
	}
	x.res.Clauses = slices.DeleteFunc(slices.Clone(x.res.Clauses), func(c string) bool { return !fits(c) })
	for i := range x.res.Charges {
		ch := &x.res.Charges[i]
		ch.Clauses = slices.DeleteFunc(slices.Clone(ch.Clauses), func(c string) bool { return !fits(c) })
	}
	return ""
}

// ownClaims are the clauses of the step itself and of its expectations and thresholds.
func (s *Step) ownClaims() []string { return append(slices.Clone([]string(s.Clauses)), s.charged()...) }
