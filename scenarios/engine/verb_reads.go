package engine

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/scenarios/expression"
)

func (r *Records) run(x *frame) (fields, error) {
	place := x.place(r.Place)
	list := x.pages(fmt.Sprintf("/space/v1/partner/entry-logs?sinceDays=%d", x.count(r.Days, 30)), place)
	keep := x.keeper(r.Door, r.Person, r.Since)
	command := need(r.Command.str(x.scope))
	kept := each.If(list, func(v any) bool {
		m, _ := v.(map[string]any)
		return keep(m) && (command == "" || m["commandId"] == command) && (r.Method == "" || m["method"] == r.Method)
	})
	return listFields("records", kept), x.each(r.All, r.AtLeast, kept, "records")
}

func (e *Events) run(x *frame) (fields, error) {
	place := x.place(e.Place)
	q := url.Values{}
	for k, v := range e.Query {
		q.Set(k, need(v.str(x.scope)))
	}
	list := x.pages("/core/v1/places/"+esc(place)+"/events?"+q.Encode(), place)
	keep := x.keeper(Ref{}, e.Person, e.Since)
	kept := each.If(list, func(v any) bool {
		m, _ := v.(map[string]any)
		return keep(m)
	})
	return listFields("events", kept), x.each(e.All, e.AtLeast, kept, "events")
}

// keeper filters records and events by door, person and time.
func (x *frame) keeper(door, person Ref, since When) func(map[string]any) bool {
	doorID, end := "", ""
	if door.set() {
		doorID = x.door(door)
	}
	if person.set() {
		end = "*" + expression.Show(x.person(person)["tail"])
	}
	from := x.since(since)
	return func(m map[string]any) bool {
		if doorID != "" && m["doorId"] != doorID || end != "" && !strings.HasSuffix(expression.Show(m["actor"]), end) {
			return false
		}
		at := cmp.Or(m["occurredAt"], m["requestedAt"])
		return notBefore(at, from)
	}
}
