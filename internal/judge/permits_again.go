package judge

import (
	"slices"

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
