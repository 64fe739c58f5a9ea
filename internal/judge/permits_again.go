package judge

import (
	"reflect"
	"slices"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
)

// relinked reports whether a repeat got another link than the registration that it repeats, and only the repeat can have
// changed it: no revocation lay between the two, nor may one that nobody heard of. Marks are compared within one client, and
// not over the restart of a shared target, which may have renewed all links.
func (v *View) relinked(was, c *call) bool {
	old, now, id := was.out("entryToken"), c.out("entryToken"), c.out("permitId")
	if old == "" || now == "" || old == now || id != was.out("permitId") || was.found || was.Src != c.Src || was.SentNs == 0 || was.overlaps(c) {
		return false
	}
	sent := was.started()
	between := func(e *history.Event) bool { return !v.before(e, sent) && !v.before(c.Event, e) }
	if v.begun != nil && slices.ContainsFunc(v.starts, between) {
		return false
	}
	if p := v.places[c.PlaceID]; p != nil && slices.ContainsFunc(p.content.grants[id], func(x version) bool { return (!x.is.there || x.is.Revoked) && between(x.e) }) {
		return false
	}
	revokes := func(r *call) bool {
		return r.Route == revokeRoute && (r.in("permitId") == id || r.out("permitId") == id || r.in("externalRef") == c.in("externalRef"))
	}
	return !v.unsureBetween(was, c, revokes) && !slices.ContainsFunc(v.known(), func(r *call) bool {
		return revokes(r) && !v.before(r.Event, sent) && !v.before(c.Event, r.started())
	})
}

// revocations holds what is done with a revoked permit against its revocation: a repeat of it is answered as it was, and a
// registration after it gives none of the links from before. Marks are compared within one client.
func (v *View) revocations(b book) {
	for id, claims := range each.By(v.claims(), func(k *claim) string { return k.id }) {
		var given []*claim // with a link
		var revoked *claim // by the first of several in a row
		var dead []string  // links
		for _, k := range claims {
			switch {
			case k.kind != "permit":
			case k.crowded || k.found:
				revoked = nil
			case k.revoked && revoked != nil:
				v.revokedAgain(b, revoked, k)
			case k.revoked:
				if revoked = k; len(given) > 0 {
					v.revokedAs(b, given[len(given)-1], k)
				}
				before := each.If(given, func(g *claim) bool { return g.Src == k.Src && sooner(g.Event, k.started()) })
				dead = append(dead, each.Of(before, func(g *claim) string { return g.token })...)
			default:
				revoked = nil
				if slices.Contains(dead, k.token) && k.token != "" { // [PERM-4]
					b.breach(k.call, []string{"PERM-4"}, "%s has a link again that was revoked", id)
				}
				given = append(given, k)
			}
		}
	}
}

// revokedAs: the first revocation of what was given before has the reason that it names, or none.
func (v *View) revokedAs(b book, given, k *claim) {
	revokes := func(u *call) bool { return u.Route == revokeRoute && v.placeOf(u) == k.place }
	until := &call{Event: k.started()} // what it changes itself comes after that
	if given.Src != k.Src || given.overlaps(k.call) || v.changedBySomebody(given, until) || v.unsureBetween(given.call, k.call, revokes) {
		return
	}
	b.of("PERM-4").checked++
	if asked, has := k.in("reason"), k.out("reason"); asked != has { // [PERM-4]
		b.breach(k.call, []string{"PERM-4"}, "%s was revoked with the reason %q, but the answer has %q", k.id, asked, has)
	}
}

// revokedAgain: a repeated revocation keeps the first time and reason.
func (v *View) revokedAgain(b book, first, k *claim) {
	gives := func(u *call) bool {
		return u.Route == createRoute && u.Method == "POST" && v.placeOf(u) == k.place
	}
	if first.Src != k.Src || v.changedBySomebody(first, k.call) || v.unsureBetween(first.call, k.call, gives) {
		return
	}
	b.of("PERM-4").checked++
	for _, field := range []string{"revokedAt", "reason"} {
		if was, now := first.Out[field], k.Out[field]; !reflect.DeepEqual(was, now) { // [PERM-4]
			b.breach(k.call, []string{"PERM-4"}, "%s was revoked with %s %v, but a repeat is answered with %v", k.id, field, was, now)
		}
	}
}
