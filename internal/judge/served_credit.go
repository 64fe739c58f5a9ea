package judge

import (
	"cmp"
	"slices"
)

// otherCredit is the grant that the command of an opening names, if no ruling credits it; "" if one does, or if nobody
// knows. Several commands may fit: others come by the same door at the same time, and who comes again within 3 s gets the
// first opening's answer.
func (v *View) otherCredit(d *deciding) (other string) {
	var credits []string
	for _, r := range d.rulings {
		if !r.allow || len(r.credits) == 0 {
			return ""
		}
		credits = append(credits, r.credits...)
	}
	if !d.opened() {
		return ""
	}
	for _, c := range v.byDoor()[d.door] {
		if c.told(d.outcome) == nil || len(c.intents) == 0 || c.intents[0].Method != methodOf[d.Route] || v.before(d.Event, c.intents[0]) {
			continue
		}
		e := c.intents[0]
		earlier := !v.before(d.started(), e)
		if earlier && e.At < d.SentAt-sameMs-clockMs && v.before(cmp.Or(earliest(c.answers), c.told(d.outcome)), d.started()) { // else its answer may be shared
			continue
		}
		if earlier || len(c.acts) == 0 || c.acts[0].GrantID == "" || slices.Contains(credits, c.acts[0].GrantID) {
			return ""
		}
		other = c.acts[0].GrantID
	}
	return other
}
