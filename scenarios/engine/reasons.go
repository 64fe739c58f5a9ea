package engine

import (
	"fmt"
	"slices"

	"github.com/doorlab/doorlab/internal/vocab"
)

// Why a door opened or didn't decides, too, what the step can be evidence for: whoever is denied because a permit has
// ended says nothing about how fast its revocation arrived, and whoever comes in by a free window nothing about permits.

// reasonShows lists the guarantees, or families of them, for each reason. A reason that isn't listed can be evidence for
// anything.
var reasonShows = map[vocab.Reason]string{
	vocab.FreeWindow:     "AUTH CMD ENT-2 ENT-3 ENT-4 HRS LEG OFF-2 OFF-3 OFF-4 SYNC-3",
	vocab.ClosedWindow:   "AUTH CMD ENT-2 ENT-3 ENT-4 HRS LEG OFF-2 OFF-3 OFF-4 SYNC-3",
	vocab.OutageLimit:    "CMD ENT-3 ENT-4 OFF-2 OFF-3 OFF-4",
	vocab.Expired:        "CMD ENT IMP OFF-1 OFF-4 PERM-3 PERM-5 PERM-7 SYNC-1 SYNC-3",
	vocab.NotStarted:     "CMD ENT IMP OFF-1 OFF-4 PERM-3 PERM-5 PERM-7 SYNC-1 SYNC-3",
	vocab.DoorOutOfScope: "AUTH CMD ENT IMP OFF-1 OFF-4 PERM-3 PERM-6 SYNC-1 SYNC-3",
	vocab.Revoked:        "AUTH CMD ENT IMP LEG OFF-1 OFF-4 PERM-3 PERM-4 PERM-7 SYNC-2 SYNC-3",
	vocab.NoValidGrant:   "AUTH CMD ENT HRS IMP LEG OFF-4 PERM-2 PERM-3 PERM-4 PERM-5 PERM-6 PERM-7 SYNC-2 SYNC-3",
	vocab.LinkInvalid:    "AUTH CMD ENT LEG OFF-4 PERM-3 PERM-4 PERM-7 SYNC-2 SYNC-3",
	letIn:                "AUTH CMD ENT HRS IMP LEG OFF PERM-1 PERM-2 PERM-3 PERM-5 PERM-6 PERM-7 SYNC-1 SYNC-3",
}

// letIn stands for the ways in which somebody with a grant came in.
const letIn vocab.Reason = "let in"

// reason is why the step's people came in or didn't: "" if it decided nothing, or not for all of them alike.
func (x *frame) reason(out fields) vocab.Reason {
	v, reason := &x.step.Verbs, ""
	switch {
	case v.Present != nil, v.Phone != nil:
		reason, _ = out["reason"].(string)
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
		return letIn
	}
	return vocab.Reason(reason)
}

// byReason takes those of the step's clauses back for which the reason of its decision is no evidence. It returns the
// reason if none is left.
func (x *frame) byReason(out fields) string {
	reason, claims := x.reason(out), x.step.ownClaims()
	list, listed := reasonShows[reason]
	if !listed || len(claims) == 0 {
		return ""
	}
	fits := func(clause string) bool { return among(list, clause) }
	if !slices.ContainsFunc(claims, fits) {
		return string(reason)
	}
	for _, c := range claims {
		if !fits(c) {
			if x.res.Unfit == nil {
				x.res.Unfit = map[string]string{}
			}
			x.res.Unfit[c] = fmt.Sprintf("what was decided is due to something else (line %d: %s)", x.step.pos.Line, reason)
		}
	}
	x.res.Clauses = slices.DeleteFunc(slices.Clone(x.res.Clauses), func(c string) bool { return !fits(c) })
	for i := range x.res.Charges {
		ch := &x.res.Charges[i]
		ch.Clauses = slices.DeleteFunc(slices.Clone(ch.Clauses), func(c string) bool { return !fits(c) })
	}
	return ""
}

// ownClaims are the clauses of the step itself and of its expectations.
func (s *Step) ownClaims() []string {
	out := slices.Clone([]string(s.Clauses))
	for _, e := range s.Expect {
		out = append(out, e.clauses...)
	}
	return out
}
