package age

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// rules draws what changes at a place: permits and other grants come and go, and what a store's owner and operator change: windows, hours, closures, outage policies, imports, keys.
func (d *drawing) rules(p *place) {
	of := func(change func(p *place, who *person) func()) func(p *place) func() {
		return func(p *place) func() { return change(p, d.anybody(p)) }
	}
	for _, c := range []struct {
		perDay float64
		draw   func(p *place) func()
	}{
		{4, of(d.permit)}, {1, of(d.revoke)}, {0.3, of(d.membership)}, {0.15, of(d.endMembership)}, {0.4, of(d.reservation)}, {2, d.read},
		{0.25, d.window}, {0.1, d.custom}, {0.3, d.noWindow}, {0.12, d.hours}, {0.04, d.closure}, {0.04, d.holidays}, {0.04, d.entryDoor},
		{0.15, d.netloss}, {0.06, d.imported}, {0.04, d.shortKey}, {0.8, d.again},
	} {
		for range d.often(c.perDay) {
			d.then(d.when(calmEntries), p, c.draw(p))
		}
	}
}

func (d *drawing) door(p *place) door { return p.doors[d.rng.IntN(len(p.doors))] }

var refs = []weighted{{"business_hours", 5}, {"after_hours", 4}, {"always", 1}}

var modes = []weighted{{"free", 3}, {"closed", 3}, {"auth", 2}}

// window sets a window policy of a door.
func (d *drawing) window(p *place) func() {
	at, ref, mode := d.door(p), pick(d.rng, refs), pick(d.rng, modes)
	return func() {
		d.r.partner(p, http.MethodPost, "/device/v1/doors/"+at.id+"/policies", map[string]any{"window": map[string]any{"ref": ref}, "mode": mode}, "window set")
	}
}

// custom sets a window policy of a door for some hours on some days, or for a while that
// begins soon, in place of the one that it has.
func (d *drawing) custom(p *place) func() {
	at, mode, week := d.door(p), pick(d.rng, modes), map[string][][2]string{}
	for _, day := range days7 {
		if opens := 6 + d.rng.IntN(12); d.rng.IntN(3) == 0 {
			week[day] = [][2]string{{clockTime(opens), clockTime(opens + 1 + d.rng.IntN(5))}}
		}
	}
	soon, long := time.Duration(d.rng.Int64N(int64(24*hour))), hour+time.Duration(d.rng.Int64N(int64(48*hour)))
	return func() {
		window := map[string]any{"ref": "custom", "week": week}
		if len(week) < 2 {
			from := d.r.clk.Now().Add(soon).Truncate(time.Second)
			window = map[string]any{"ref": "custom", "startsAt": stamp(from), "endsAt": stamp(from.Add(long))}
		}
		path := "/device/v1/doors/" + at.id + "/policies"
		d.r.partner(p, http.MethodDelete, path+"?ref=custom", nil, "window removed")
		d.r.partner(p, http.MethodPost, path, map[string]any{"window": window, "mode": mode}, "custom window set")
	}
}

// noWindow removes one, if there is one.
func (d *drawing) noWindow(p *place) func() {
	at, ref := d.door(p), pick(d.rng, append(slices.Clone(refs), weighted{"custom", 4}))
	return func() {
		d.r.partner(p, http.MethodDelete, "/device/v1/doors/"+at.id+"/policies?ref="+ref, nil, "window removed")
	}
}

// hours changes the opening hours of some days.
func (d *drawing) hours(p *place) func() {
	week := map[string][][2]string{}
	for _, day := range days7 {
		opens, shuts := 6+d.rng.IntN(6), 17+d.rng.IntN(8)
		switch d.rng.IntN(6) {
		case 0:
			week[day] = [][2]string{}
		case 1:
			week[day] = [][2]string{{clockTime(opens), "13:00"}, {"14:00", clockTime(shuts)}}
		case 2, 3:
			week[day] = [][2]string{{clockTime(opens), clockTime(shuts)}}
		}
	}
	return func() {
		d.r.partner(p, http.MethodPatch, "/core/v1/places/"+p.id, map[string]any{"hours": map[string]any{"week": week}}, "hours changed")
	}
}

var days7 = []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}

func clockTime(hour int) string { return fmt.Sprintf("%02d:00", hour) }

// closure closes the place for some days that begin soon.
func (d *drawing) closure(p *place) func() {
	first, long := d.rng.IntN(4), d.rng.IntN(3)
	return func() {
		from := d.r.clk.Now().In(p.zone).AddDate(0, 0, first)
		days := []map[string]string{{"from": from.Format(time.DateOnly), "to": from.AddDate(0, 0, long).Format(time.DateOnly), "name": "Refit"}}
		d.r.operate(http.MethodPatch, "/places/"+p.id, p.id, map[string]any{"closures": days}, false)
		d.r.did(changes, "closure")
	}
}

// holidays sets those of the next days: closed, or open for some hours.
func (d *drawing) holidays(p *place) func() {
	var list []map[string]any
	for after := d.rng.IntN(4); len(list) < 1+d.rng.IntN(3); after += 1 + d.rng.IntN(3) {
		day := map[string]any{"after": after, "name": "Holiday"}
		if opens := 8 + d.rng.IntN(6); d.rng.IntN(2) == 0 {
			day["intervals"] = [][2]string{{clockTime(opens), clockTime(opens + 4)}}
		}
		list = append(list, day)
	}
	return func() {
		for _, day := range list {
			day["date"] = d.r.clk.Now().In(p.zone).AddDate(0, 0, day["after"].(int)).Format(time.DateOnly)
			delete(day, "after")
		}
		d.r.operate(http.MethodPatch, "/places/"+p.id, p.id, map[string]any{"holidays": list}, false)
		d.r.did(changes, "holidays")
	}
}

// entryDoor changes whether people may enter by a door, except a place's first: some door has to be an entry door.
func (d *drawing) entryDoor(p *place) func() {
	which, entry := d.rng.IntN(len(p.doors)), d.rng.IntN(2) == 0
	return func() {
		if which > 0 {
			d.r.operate(http.MethodPatch, "/doors/"+p.doors[which].id, p.id, map[string]any{"entry": entry}, false)
			d.r.did(changes, "entry door")
		}
	}
}

var behaviours = []weighted{{"close", 4}, {"open", 2}, {"hold", 3}, {"off", 2}}

// netloss sets a board's outage policy, which fails while the board is offline.
func (d *drawing) netloss(p *place) func() {
	board, channels := p.boards[d.rng.IntN(len(p.boards))], map[string]string{}
	grace := []int{0, 60, 600, 7200, 36 * 3600}[d.rng.IntN(5)]
	n := 0
	for _, at := range p.doors {
		if at.board == board {
			n++
			channels[strconv.Itoa(n)] = pick(d.rng, behaviours)
		}
	}
	return func() {
		r := d.r
		r.signIn(p)
		a := r.ask(call{method: http.MethodPut, path: "/device/v1/boards/" + board + "/netloss", place: p, body: map[string]any{"graceSec": grace, "channels": channels}})
		r.did(changes, "outage policy "+strconv.Itoa(a.Status))
	}
}

// imported imports memberships, and the same file once more.
func (d *drawing) imported(p *place) func() {
	d.keys++
	source, rows := fmt.Sprintf("file-%d-%d", d.n, d.keys), []map[string]any{}
	for i := range 2 + d.rng.IntN(6) {
		who := d.anybody(p)
		rows = append(rows, map[string]any{"externalRef": fmt.Sprintf("row-%d", i), "phone": who.phone, "name": who.name})
	}
	long := time.Duration(1+d.rng.IntN(60)) * 24 * hour
	return func() {
		now := d.r.clk.Now().Truncate(time.Second)
		for _, row := range rows {
			row["startsAt"], row["endsAt"] = stamp(now), stamp(now.Add(long))
		}
		for range 2 {
			d.r.partner(p, http.MethodPost, "/space/v1/memberships/import", map[string]any{"source": source, "items": rows}, "import")
		}
	}
}

// shortKey issues a key, uses it and revokes it.
func (d *drawing) shortKey(p *place) func() {
	return func() {
		r := d.r
		body := map[string]any{"placeId": p.id, "scopes": []string{"space:partner"}, "name": "short"}
		key := data[struct{ KeyID, APIKey string }](r.operate(http.MethodPost, "/keys", "", body, false))
		token, _ := r.exchange(p, key.APIKey)
		read := call{method: http.MethodGet, path: "/space/v1/partner/gate-config", place: p, token: token}
		r.want(r.ask(read), "reading with a new key")
		r.operate(http.MethodDelete, "/keys/"+key.KeyID, "", nil, false)
		r.exchange(p, key.APIKey)
		r.ask(read)
		r.did(changes, "key issued and revoked")
	}
}

// again repeats a command that was given within the last month, or a little earlier: then its key is forgotten, and it
// counts as new.
func (d *drawing) again(p *place) func() {
	which := d.rng.Float64()
	return func() {
		r := d.r
		now := r.clk.Now()
		var given []*keyed
		for _, k := range p.pressed {
			if age := now.Sub(k.at); !k.at.IsZero() && age < 32*24*hour && (age < keyLife-12*hour || age > keyLife+12*hour) {
				given = append(given, k)
			}
		}
		if len(given) == 0 {
			return
		}
		k := given[int(which*float64(len(given)))]
		r.signIn(p)
		outcome, what := r.command(p, k), "key repeated"
		if now.Sub(k.at) > keyLife {
			k.at = time.Time{} // it now stands for another command
			what = "key used again after 30 days"
		}
		r.did(changes, what+": "+outcome)
	}
}

// keyLife is how long the server keeps a key.
const keyLife = 30 * 24 * hour

// partner makes a call of a place's partner that has to succeed.
func (r *run) partner(p *place, method, path string, body any, what string) {
	r.signIn(p)
	r.want(r.ask(call{method: method, path: path, place: p, body: body}), what)
	r.did(changes, what)
}
