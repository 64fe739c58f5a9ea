package judge

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

// The reference is a second, independent implementation of docs/decisions.md: what a board should have decided from the
// content of its revision. It shares no code with the routine that server and boards use.

// limitMs: on-site decisions still work at exactly 36 h, and stop after that.
const limitMs = 36 * 3600 * 1000

// refGrant is a grant as synchronized.
type refGrant struct {
	ID        string   `json:"id"`
	Kind      string   `json:"kind"`
	PhoneHash string   `json:"phoneHash"`
	TokenHash string   `json:"tokenHash"`
	Doors     []string `json:"doors"`
	StartsAt  int64    `json:"startsAt"`
	EndsAt    int64    `json:"endsAt"` // 0 = no end
	Revoked   bool     `json:"revoked"`
}

// ruling is the reference's decision: allow or deny, for one of these reasons, crediting one of these grants, and for a
// caller opening one of these doors. Unknown: it can't tell.
type ruling struct {
	unknown bool
	allow   bool
	moot    bool   // a window decided, and without it the answer would have been the same
	despite bool   // it allows although another grant of the person was revoked or is over
	kind    string // of the grant that it credits
	reasons []vocab.Reason
	credits []string
	doors   []string
	at      map[vocab.Reason][]string // the doors of which a refusal for the reason names one, "" = none; any for a reason that isn't here
}

func deny(reasons ...vocab.Reason) ruling { return ruling{reasons: reasons} }

// over reports whether at an outage age nothing is decided any more.
func over(ageMs int64) bool { return ageMs < 0 || ageMs > limitMs }

// rule decides a presentation by the content at the board's revision.
func (c *content) rule(e *history.Event) ruling {
	if over(e.OutageAgeMs) {
		return deny(vocab.OutageLimit)
	}
	if !c.based || e.Revision < c.base || e.PhoneHash == "" && e.TokenHash == "" {
		return ruling{unknown: true}
	}
	now := cmp.Or(e.BoardAt, e.At)
	phone := e.PhoneHash
	if e.TokenHash != "" {
		g, ok := c.holder(e.TokenHash, e.Revision)
		if !ok {
			return deny(vocab.LinkInvalid)
		}
		phone = g.PhoneHash
	}
	return c.ruleFor(phone, e.DoorID, e.Revision, now)
}

// holder is the grant whose valid link the token is.
func (c *content) holder(token string, rev int64) (refGrant, bool) {
	for _, id := range c.tokens[token] {
		if g, ok := c.at(id, rev); ok && g.TokenHash == token && !g.Revoked {
			return g, true
		}
	}
	return refGrant{}, false
}

// weigh: any one grant that is valid for the door now opens it; otherwise every reason that is true of some grant is
// acceptable.
func weigh(grants []refGrant, door string, now int64) ruling {
	var valid []refGrant
	var why []vocab.Reason
	for _, g := range grants {
		switch {
		case g.Revoked:
			why = append(why, vocab.Revoked)
		case now < g.StartsAt:
			why = append(why, vocab.NotStarted)
		case g.EndsAt != 0 && now >= g.EndsAt:
			why = append(why, vocab.Expired)
		case !slices.Contains(g.Doors, door):
			why = append(why, vocab.DoorOutOfScope)
		default:
			valid = append(valid, g)
		}
	}
	switch {
	case len(valid) > 0:
		credits := credited(valid)
		kind := valid[slices.IndexFunc(valid, func(g refGrant) bool { return g.ID == credits[0] })].Kind
		return ruling{allow: true, despite: slices.Contains(why, vocab.Revoked) || slices.Contains(why, vocab.Expired), kind: kind, reasons: []vocab.Reason{vocab.Reason(vocab.Onsite)}, credits: credits}
	case len(why) == 0:
		return deny(vocab.NoValidGrant)
	}
	return deny(why...)
}

// credited are the grants of which one must be named: the permits that end first, else the reservations, else the
// memberships, else those of a kind that nobody knows. There is always one.
func credited(valid []refGrant) []string {
	for _, kind := range []string{"permit", "reservation", "membership"} {
		var out []string
		ends := int64(never)
		for _, g := range valid {
			if g.Kind != kind {
				continue
			}
			end := cmp.Or(g.EndsAt, never)
			if kind == "permit" && end < ends {
				out, ends = nil, end
			}
			if kind != "permit" || end == ends {
				out = append(out, g.ID)
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return each.Of(valid, func(g refGrant) string { return g.ID })
}

// agrees compares a presentation with a ruling; "" or how they differ.
func (r ruling) agrees(e *history.Event) string {
	opened := e.Result == vocab.Opened
	switch {
	case opened && !r.allow:
		return "opened, but the reference denies: " + string(r.reasons[0])
	case !opened && r.allow:
		return fmt.Sprintf("denied (%s), but the reference opens: %s", e.Reason, r.reasons[0])
	case !opened && !slices.Contains(r.reasons, e.Reason):
		return fmt.Sprintf("denied for %s, but the reference says %s", e.Reason, r.reasons[0])
	case opened && len(r.credits) > 0 && e.GrantID != "" && !slices.Contains(r.credits, e.GrantID):
		return "credited " + e.GrantID + ", the reference " + r.credits[0]
	}
	return ""
}
