package judge

import (
	"slices"

	"github.com/doorlab/doorlab/internal/history"
)

// The second content is what a place's rules must be according to the clients' own requests that were answered 200. The
// server's reported content is compared with it, so a rule shows up even if server and boards have it wrong in the same
// way.

// claim is a change of a grant that a client was told has been made.
type claim struct {
	*call
	place, id, kind string // of the grant
	revoked         bool
	starts, ends    int64    // Unix ms; starts 0 = when it was given, ends 0 = never
	doors           []string // nil: the default scope, or the one it had
	phone, token    string   // marks
	again           bool     // the grant had been given before
	crowded         bool     // another call changed it at the same time
}

// claimed lists all claims, in the order of their answers.
func (v *View) claimed() []*claim {
	var out []*claim
	last := map[string][]*claim{}
	for _, c := range v.known() {
		k := claimOf(c)
		if k == nil {
			continue
		}
		if k.place = v.placeOf(c); k.place == "" {
			continue
		}
		for _, other := range last[k.id] {
			k.again = true
			if other.overlaps(k.call) {
				other.crowded, k.crowded = true, true
			}
		}
		last[k.id] = append(last[k.id], k)
		out = append(out, k)
	}
	return out
}

// placeOf finds the place of a call by its token, else as named by its client.
func (v *View) placeOf(c *call) string {
	if k := v.tokens().issued[c.Token]; k != nil {
		return k.place
	}
	return c.PlaceID
}

// started is when a call was sent, as an event that can be compared.
func (c *call) started() *history.Event {
	return &history.Event{WallNs: c.SentNs, Src: c.Src, ErrNs: c.ErrNs, At: c.SentAt, Seq: c.Seq}
}

// overlaps reports whether c was in progress when d, which was answered later, was sent.
func (c *call) overlaps(d *call) bool { return !sooner(c.Event, d.started()) }

const (
	revokeRoute   = createRoute + "/revoke"
	reserveRoute  = "/space/v1/reservations"
	cancelRoute   = reserveRoute + "/{id}/cancel"
	labMembership = "/lab/v1/memberships"
	labReserve    = "/lab/v1/reservations"
)

// claimOf parses a call that changed a grant; nil if it didn't, or if the client doesn't know when it was sent.
func claimOf(c *call) *claim {
	if !c.ok() || c.Method != "POST" || c.SentNs == 0 {
		return nil
	}
	k := &claim{call: c, doors: texts(c.In["doorIds"]), phone: c.in("phone")}
	k.starts, _ = instant(c.In["startsAt"])
	k.ends, _ = instant(c.In["endsAt"])
	if c.In["startsAt"] == nil {
		k.starts = 0
	}
	if c.In["endsAt"] == nil {
		k.ends = 0
	}
	if len(k.doors) == 0 {
		k.doors = nil
	}
	switch c.Route {
	case createRoute:
		k.kind, k.id, k.token = "permit", c.out("permitId"), c.out("entryToken")
	case revokeRoute:
		k.kind, k.id, k.revoked = "permit", c.out("permitId"), true
	case labMembership:
		k.kind, k.id = "membership", c.out("membershipId")
	case reserveRoute, labReserve:
		k.kind, k.id = "reservation", c.out("reservationId")
	case cancelRoute:
		k.kind, k.id, k.revoked = "reservation", c.Path, true
	default:
		return nil
	}
	if k.id == "" {
		return nil
	}
	return k
}

// during returns the versions of a thing that the server had during a call, the likeliest last: the last one before,
// and all that arrived meanwhile. A server that died may have reported none of them; then what its next run reported
// first comes first.
func during[T any](v *View, c *call, all []stated[T]) (out []stated[T]) {
	sent := c.started()
	for _, x := range all {
		switch {
		case v.before(x.e, sent):
			out = []stated[T]{x}
		case !v.before(c.Event, x.e):
			out = append(out, x)
		case v.startedBetween(c.Event, x.e):
			return append([]stated[T]{x}, out...)
		default: // reported after the call by the same server process: later versions come from other calls
			return out
		}
	}
	return out
}

// startedBetween reports whether a server process that started after a reported b as state that it found, not as its
// own commit.
func (v *View) startedBetween(a, b *history.Event) bool {
	return slices.ContainsFunc(v.starts, func(s *history.Event) bool {
		p := v.places[b.PlaceID]
		return !v.before(s, a) && !v.before(b, s) && !(p != nil && p.committedAfter(v, b.Revision, s))
	})
}

// committedAfter reports whether a revision was committed after an event.
func (p *place) committedAfter(v *View, revision int64, e *history.Event) bool {
	return slices.ContainsFunc(p.commits, func(c *history.Event) bool { return c.Revision == revision && !v.before(c, e) })
}

// knows reports whether the place's whole content had been reported when the call was sent.
func (v *View) knows(p *place, c *call) bool {
	return p != nil && p.content.since != nil && v.before(p.content.since, c.started())
}
