package scenario

import (
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
)

func (p *Permit) title() string { return p.Person.raw }

// run registers a permit and remembers the person.
func (p *Permit) run(x *frame) (fields, error) {
	name, err := p.Person.str(x.scope)
	if err != nil {
		return nil, err
	}
	who, err := x.newPerson(name, p.Place, p.Phone)
	if err != nil {
		return nil, err
	}
	if p.Ref.set() {
		if who["ref"], err = p.Ref.str(x.scope); err != nil {
			return nil, err
		}
	}
	from, err := x.at(p.From, "now-1h")
	if err != nil {
		return nil, err
	}
	to, err := x.at(p.To, "+72h")
	if err != nil {
		return nil, err
	}
	body := map[string]any{"externalRef": who["ref"], "phone": who["phone"], "name": name, "startsAt": rfc3339(from), "endsAt": rfc3339(to)}
	doors, err := x.doorList(p.Doors)
	if err != nil {
		return nil, err
	}
	if doors != nil {
		body["doorIds"] = doors
	}
	key, err := x.apiKey(p.KeyName, who["place"].(string))
	if err != nil {
		return nil, err
	}
	a, err := x.post(x.ctx, "POST", "/space/v1/partner/entry-permits", key, who["place"].(string), body)
	if err != nil {
		return nil, err
	}
	if a.Status == 200 {
		issued(who, a)
		who["doors"] = doors
		x.scope.root().set(name, who)
	}
	out := a.fields()
	out["permit"] = who
	return out, p.check(x, a, false)
}

// newPerson is somebody the file knows already, or one made of the name.
func (x *frame) newPerson(name string, place Ref, phone Text) (map[string]any, error) {
	who := map[string]any{"name": name, "phone": x.file.phone(name), "ref": x.file.uid(name)}
	if old, ok := x.scope.get(name); ok {
		if m, ok := old.(map[string]any); ok && m["phone"] != nil {
			who = maps.Clone(m)
		}
	}
	if place.set() {
		id, err := x.place(place)
		if err != nil {
			return nil, err
		}
		who["place"] = id
	}
	if _, ok := who["place"].(string); !ok {
		return nil, fmt.Errorf("%s has no place yet: say place:", name)
	}
	if phone.set() {
		p, err := phone.str(x.scope)
		if err != nil {
			return nil, err
		}
		who["phone"] = p
	}
	who["tail"] = tail(who["phone"].(string))
	return who, nil
}

func tail(phone string) string { return phone[max(0, len(phone)-4):] }

// issued keeps what a create answered.
func issued(who map[string]any, a *answer) {
	who["permitId"], who["token"], who["url"] = a.text("data", "permitId"), a.text("data", "entryToken"), a.text("data", "url")
}

func (r *Revoke) title() string { return r.Person.raw }

// run revokes by reference or id, one person or several; the result is the last answer.
func (r *Revoke) run(x *frame) (fields, error) {
	people, err := x.people(r.Person)
	if err != nil {
		return nil, err
	}
	reason, err := r.Reason.str(x.scope)
	if err != nil {
		return nil, err
	}
	answers := make([]*answer, len(people))
	err = atOnce(8, len(people), func(i int) (err error) {
		if answers[i], err = x.revoke(people[i], r.By, reason); err == nil {
			err = r.check(x, answers[i], false)
		}
		return err
	})
	if err != nil || len(people) == 0 {
		return nil, err
	}
	out := answers[len(people)-1].fields()
	out["count"] = len(people)
	return out, nil
}

func (x *frame) revoke(who map[string]any, by, reason string) (*answer, error) {
	place := show(who["place"])
	key, err := x.run.dir.key(place)
	if err != nil {
		return nil, err
	}
	body := map[string]any{"externalRef": who["ref"]}
	if by == "id" {
		body = map[string]any{"permitId": who["permitId"]}
	}
	if reason != "" {
		body["reason"] = reason
	}
	return x.post(x.ctx, "POST", "/space/v1/partner/entry-permits/revoke", key, place, body)
}

func (b *Bulk) title() string { return b.Name.raw + " " + b.Register.raw }

// run registers people over the places of a cohort in turn and revokes the last of them.
func (b *Bulk) run(x *frame) (fields, error) {
	name, err := b.Name.str(x.scope)
	if err != nil {
		return nil, err
	}
	over, err := b.Over.eval(x.scope)
	if err != nil {
		return nil, err
	}
	places, err := many(over, "places")
	if err != nil {
		return nil, err
	}
	n, revoke, workers := x.count(&b.Register, 0), x.count(b.Revoke, 0), x.count(b.Workers, 8)
	from, err := x.at(b.From, "now-1h")
	if err != nil {
		return nil, err
	}
	to, err := x.at(b.To, "+72h")
	if err != nil {
		return nil, err
	}
	if len(places) == 0 || n < 1 || revoke > n {
		return nil, fmt.Errorf("cannot register %d people at %d places and revoke %d", n, len(places), revoke)
	}
	turn, err := b.pace(x, n+revoke)
	if err != nil {
		return nil, err
	}
	people := make([]any, n)
	err = atOnce(workers, n, func(i int) (err error) {
		if err := turn(i); err != nil {
			return err
		}
		people[i], err = x.register(fmt.Sprintf("%s%d", name, i), places[i%len(places)], from, to)
		return err
	})
	if err != nil {
		return nil, err
	}
	err = atOnce(workers, revoke, func(i int) error {
		if err := turn(n + i); err != nil {
			return err
		}
		a, err := x.revoke(people[n-1-i].(map[string]any), "ref", "bulk")
		if err == nil && a.Status != 200 {
			return failed("revoke: %s", a.short())
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	group := map[string]any{"people": people, "kept": people[:n-revoke], "revoked": people[n-revoke:], "count": n}
	x.scope.root().set(name, group)
	x.res.Detail = fmt.Sprintf("%d registered, %d revoked at %d places", n, revoke, len(places))
	return group, nil
}

// pace spreads n requests evenly over the wanted time; turn waits for the i-th.
func (b *Bulk) pace(x *frame, n int) (turn func(i int) error, err error) {
	total := time.Duration(0)
	if b.During != nil {
		if total, err = b.During.dur(x.scope); err != nil {
			return nil, err
		}
	}
	began := clock.Mono()
	return func(i int) error {
		wait := total*time.Duration(i)/time.Duration(n) - (clock.Mono() - began)
		if wait <= 0 {
			return nil
		}
		return sleep(x.ctx, wait)
	}, nil
}

// register makes one permit that must succeed.
func (x *frame) register(name, place string, from, to time.Time) (map[string]any, error) {
	key, err := x.run.dir.key(place)
	if err != nil {
		return nil, err
	}
	phone := x.file.phone(name)
	who := map[string]any{"name": name, "phone": phone, "tail": tail(phone), "ref": x.file.uid(name), "place": place}
	a, err := x.post(x.ctx, "POST", "/space/v1/partner/entry-permits", key, place, map[string]any{
		"externalRef": who["ref"], "phone": phone, "name": name, "startsAt": rfc3339(from), "endsAt": rfc3339(to)})
	if err != nil {
		return nil, err
	}
	if a.Status != 200 {
		return nil, failed("register %s: %s", name, a.short())
	}
	issued(who, a)
	return who, nil
}

// count is a whole number, or the default.
func (x *frame) count(n *Num, def int) int {
	if n == nil || !n.set() {
		return def
	}
	v, err := n.num(x.scope)
	if err != nil {
		return def
	}
	return int(v)
}

// atOnce runs f for 0..n-1 with several workers and returns the first error.
func atOnce(workers, n int, f func(int) error) error {
	var wg sync.WaitGroup
	var mu sync.Mutex
	var first error
	next := 0
	for range max(1, min(workers, n)) {
		wg.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				stop := i >= n || first != nil
				mu.Unlock()
				if stop {
					return
				}
				if err := f(i); err != nil {
					mu.Lock()
					if first == nil {
						first = err
					}
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	return first
}
