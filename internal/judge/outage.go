package judge

import (
	"fmt"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/history"
)

// off1 judges OFF-1: in an outage of up to 36 h a board decides like the reference, and the relay does what was
// decided.
func off1(v *View) Verdict {
	n := v.decided()
	t := n.outage // [OFF-1]
	return t.verdict(v, "OFF-1", fmt.Sprintf("%s decisions during outages, all as the reference model decides, %s opened; oldest outage %s%s",
		amount.Number(t.checked), amount.Number(n.opened), history.Age(n.agedMs), cantTell(n.unknown))).
		triedIf(v.told, n.granted, "nobody was let in by a grant during an outage").
		at(v, v.moments(n.grantedAt))
}

// off2 judges OFF-2: after 36 h, or with a lost clock, nothing is decided on site; up to exactly 36 h nothing is denied
// because of the limit. The line tells how long an outage has lasted, not the board.
func off2(v *View) Verdict {
	n := v.decided()
	t := n.limit // [OFF-2]
	return t.verdict(v, "OFF-2", fmt.Sprintf("%s denied after 36 h (%s with a lost clock); oldest opening %s (limit 36 h); decisions one second before 36 h: %s, at 36 h: %s, one second after: %s",
		amount.Number(n.stopped), amount.Number(n.timeless), history.Age(n.oldestMs), amount.Number(n.minus), amount.Number(n.exact), amount.Number(n.plus))).
		about(n.stopped+n.nearly).
		triedIf(v.told, n.missed+n.nearly, "nobody tried a door after 36 h of an outage, and nobody was let in during the last minute before").
		showsIf(v.told, sight{n.last, "somebody let in during the last second"}, sight{n.soon, "somebody kept out within 36 h after the limit"}).
		at(v, v.moments(n.limitAt))
}
