package engine

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/doorlab/doorlab/scenarios/expression"
)

func (r *Records) title() string { return r.Place.raw }

// run reads the entry records of a place to the end.
func (r *Records) run(x *frame) (fields, error) {
	place, err := x.place(r.Place)
	if err != nil {
		return nil, err
	}
	list, err := x.pages(fmt.Sprintf("/space/v1/partner/entry-logs?sinceDays=%d", x.count(r.Days, 30)), place)
	if err != nil {
		return nil, err
	}
	keep, err := x.keeper(r.Door, r.Person, r.Since)
	if err != nil {
		return nil, err
	}
	command, err := r.Command.str(x.scope)
	if err != nil {
		return nil, err
	}
	kept := []any{}
	for _, e := range list {
		m, _ := e.(map[string]any)
		if keep(m) && (command == "" || m["commandId"] == command) && (r.Method == "" || m["method"] == r.Method) {
			kept = append(kept, m)
		}
	}
	return listFields("records", kept), x.each(r.All, r.AtLeast, kept, "records")
}

func (e *Events) title() string { return e.Place.raw }

// run reads the events of a place to the end.
func (e *Events) run(x *frame) (fields, error) {
	place, err := x.place(e.Place)
	if err != nil {
		return nil, err
	}
	q := url.Values{}
	for k, v := range e.Query {
		s, err := v.str(x.scope)
		if err != nil {
			return nil, err
		}
		q.Set(k, s)
	}
	list, err := x.pages("/core/v1/places/"+esc(place)+"/events?"+q.Encode(), place)
	if err != nil {
		return nil, err
	}
	keep, err := x.keeper(Ref{}, e.Person, e.Since)
	if err != nil {
		return nil, err
	}
	kept := []any{}
	for _, v := range list {
		if m, _ := v.(map[string]any); keep(m) {
			kept = append(kept, m)
		}
	}
	return listFields("events", kept), x.each(e.All, e.AtLeast, kept, "events")
}

// keeper filters records and events by door, person and time.
func (x *frame) keeper(door, person Ref, since When) (func(map[string]any) bool, error) {
	doorID, end := "", ""
	var from time.Time
	var err error
	if door.set() {
		if doorID, err = x.door(door); err != nil {
			return nil, err
		}
	}
	if person.set() {
		who, err := x.person(person)
		if err != nil {
			return nil, err
		}
		end = "*" + expression.Show(who["tail"])
	}
	if since.set() {
		if from, err = x.since(since); err != nil {
			return nil, err
		}
	}
	return func(m map[string]any) bool {
		if doorID != "" && m["doorId"] != doorID || end != "" && !strings.HasSuffix(expression.Show(m["actor"]), end) {
			return false
		}
		at := m["occurredAt"]
		if at == nil {
			at = m["requestedAt"]
		}
		return notBefore(at, from)
	}, nil
}
