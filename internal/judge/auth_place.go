package judge

import (
	"cmp"

	"github.com/doorlab/doorlab/internal/history"
)

// ownPlace judges that a command stayed at the place that it was given at.
func (v *View) ownPlace(t *tally, c *command) {
	ask := ""
	for _, es := range [][]*history.Event{c.answers, c.intents, c.records} {
		for _, e := range es {
			ask = cmp.Or(ask, e.PlaceID)
		}
	}
	if k := v.keys[c.key]; k != nil && ask == "" && len(k.attempts) > 0 {
		ask = k.attempts[0].PlaceID
	}
	if ask == "" {
		return
	}
	for _, es := range [][]*history.Event{c.publishes, c.acts} {
		for _, e := range es {
			place := e.PlaceID
			if b := v.boards[e.BoardID]; b != nil && b.place != "" {
				place = b.place
			} else if v.whole != nil {
				place = cmp.Or(v.whole.owners[e.BoardID], place)
			}
			if place != "" && place != ask {
				t.bad(e, "%s was given at %s and reached %s of %s", c.id, ask, e.BoardID, place)
				return
			}
		}
	}
	for _, e := range c.intents {
		if e.PlaceID != "" && e.PlaceID != ask {
			t.bad(e, "%s was given at %s and accepted for %s", c.id, ask, e.PlaceID)
			return
		}
	}
}
