package engine

import (
	"fmt"
	"time"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/clock"
)

func (b *Bulk) title() string { return b.Name.raw + " " + b.Register.raw }

// run registers people at the places of a cohort in turn and revokes the last of them.
func (b *Bulk) run(x *frame) (fields, error) {
	name := need(b.Name.str(x.scope))
	places := need(many(need(b.Over.eval(x.scope)), "places"))
	n, revoke, workers := x.upTo(mostPeople, &b.Register), x.count(b.Revoke, 0), x.count(b.Workers, 8)
	from, to := x.span(b.From, b.To, "+72h")
	if len(places) == 0 || revoke > n {
		return nil, fmt.Errorf("can't register %d people at %d places and revoke %d", n, len(places), revoke)
	}
	turn := b.pace(x, n+revoke)
	people := make([]any, n)
	sure(atOnce(workers, n, func(i int) error {
		turn(i)
		people[i] = x.register(fmt.Sprintf("%s%d", name, i), places[i%len(places)], from, to, !b.To.set())
		return nil
	}))
	sure(atOnce(workers, revoke, func(i int) error {
		turn(n + i)
		if a := need(x.revoke(people[n-1-i].(map[string]any), "ref", "bulk")); a.Status != 200 {
			return failed("revoke: %s", a.short())
		}
		return nil
	}))
	group := map[string]any{"people": people, "kept": people[:n-revoke], "revoked": people[n-revoke:], "count": n}
	x.scope.root().set(name, group)
	x.res.Detail = fmt.Sprintf("%d registered, %d revoked at %s", n, revoke, amount.Many(len(places), "place"))
	return group, nil
}

// pace spreads n requests evenly over the given time; turn waits for the i-th.
func (b *Bulk) pace(x *frame, n int) (turn func(i int)) {
	total := time.Duration(0)
	if b.During != nil {
		total = need(b.During.dur(x.scope))
	}
	began := clock.Mono()
	return func(i int) {
		if wait := total*time.Duration(i)/time.Duration(n) - (clock.Mono() - began); wait > 0 {
			sure(client.Pause(x.ctx, wait))
		}
	}
}

// register makes one permit that must succeed. usual: its end is the default one.
func (x *frame) register(name, place string, from, to time.Time, usual bool) map[string]any {
	phone := x.file.phone(name)
	x.run.mask.add(phone)
	who := map[string]any{"name": name, "phone": phone, "tail": tail(phone), "ref": x.file.uid(name), "place": place}
	a := need(x.run.post(x.ctx, "POST", permitsPath, place, map[string]any{
		"externalRef": who["ref"], "phone": phone, "name": name, "startsAt": rfc3339(from), "endsAt": rfc3339(to)}))
	if usual {
		sure(x.tooLong(place, a))
	}
	if a.Status != 200 {
		panic(stop{failed("register %s: %s", name, a.short())})
	}
	x.issued(who, a)
	return who
}
