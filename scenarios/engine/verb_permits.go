package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"golang.org/x/sync/errgroup"

	"github.com/doorlab/doorlab/scenarios/expression"
)

func (p *Permit) run(x *frame) (fields, error) {
	name := need(p.Person.str(x.scope))
	who := x.newPerson(name, p.Place, p.Phone)
	if p.Ref.set() {
		who["ref"] = need(p.Ref.str(x.scope))
	}
	from, to := x.span(p.From, p.To, "+72h")
	x.period = to.Sub(from)
	body := map[string]any{"externalRef": who["ref"], "phone": who["phone"], "name": name, "startsAt": rfc3339(from), "endsAt": rfc3339(to)}
	doors := x.doorList(p.Doors, body)
	q := request{method: "POST", path: permitsPath, placeID: who["place"].(string)}
	q.body, _ = json.Marshal(body)
	q.apiKey = x.apiKey(p.KeyName, q.placeID)
	answers := need(p.send(x, q, false))
	if a := answers[0]; a.Status == 200 {
		x.issued(who, a)
		who["doors"] = doors
		x.scope.root().set(name, who)
	}
	out, err := p.checked(x, answers)
	if _, wrong := errors.AsType[*failure](err); wrong && !p.To.set() {
		err = cmp.Or(x.tooLong(q.placeID, answers[0]), err)
	}
	out["permit"] = who
	return out, err
}

// newPerson is a person that the file knows already, or a new one with this name.
func (x *frame) newPerson(name string, place Ref, phone Text) map[string]any {
	who := map[string]any{"name": name, "phone": x.file.phone(name), "ref": x.file.uid(name)}
	if old, ok := x.scope.get(name); ok {
		if m, ok := old.(map[string]any); ok && m["phone"] != nil {
			who = maps.Clone(m)
		}
	}
	if place.set() {
		who["place"] = x.place(place)
	}
	if _, ok := who["place"].(string); !ok {
		panic(stop{fmt.Errorf("%s has no place yet; name one with place", name)})
	}
	if phone.set() {
		who["phone"] = need(phone.str(x.scope))
	}
	who["tail"] = tail(who["phone"].(string))
	x.run.mask.add(who["phone"].(string))
	return who
}

func tail(phone string) string { return phone[max(0, len(phone)-4):] }

// issued keeps what a create answered.
func (x *frame) issued(who map[string]any, a *answer) {
	x.run.mask.add(a.text("data", "entryToken"))
	who["permitId"], who["token"], who["url"] = a.text("data", "permitId"), a.text("data", "entryToken"), a.text("data", "url")
}

// run revokes by reference or id, one person or several; the result is the last answer.
func (r *Revoke) run(x *frame) (fields, error) {
	people := x.people(r.Person)
	reason := need(r.Reason.str(x.scope))
	out, err := r.shared(x, 8, len(people), func(i int) *answer { return need(x.revoke(people[i], r.By, reason)) })
	if out != nil {
		out["count"] = len(people)
	}
	return out, err
}

func (x *frame) revoke(who map[string]any, by, reason string) (*answer, error) {
	place := expression.Show(who["place"])
	body := map[string]any{"externalRef": who["ref"]}
	if by == "id" {
		body = map[string]any{"permitId": who["permitId"]}
	}
	if reason != "" {
		body["reason"] = reason
	}
	return x.run.post(x.ctx, "POST", "/space/v1/partner/entry-permits/revoke", place, body)
}

// atOnce runs f for 0..n-1 with several workers and returns the first error, after which it begins no other.
func atOnce(workers, n int, f func(int) error) error {
	g, ctx := errgroup.WithContext(context.Background())
	g.SetLimit(max(1, workers))
	for i := 0; i < n && ctx.Err() == nil; i++ {
		g.Go(func() error {
			_, err := guarded(func() (fields, error) { return nil, f(i) })
			return err
		})
	}
	return g.Wait()
}
