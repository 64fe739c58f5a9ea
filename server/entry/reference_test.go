package entry_test

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// The reference implements the decisions a second time, sharing no code with internal/access. It returns every
// correct reason and every correct credit.

type ruling struct {
	allow   bool
	reasons []string
	credits []string
}

func (r ruling) differs(d decision) string {
	if d.allow != r.allow || !slices.Contains(r.reasons, string(d.reason)) || len(r.credits) == 0 && d.grant != "" || len(r.credits) > 0 && !slices.Contains(r.credits, d.grant) {
		return fmt.Sprintf("decided %+v, the reference says %+v", d, r)
	}
	return ""
}

func (c *agreeCase) reference(method, phone, token, door string, now, outage int64) ruling {
	if outage < 0 || outage > 36*60*60*1000 {
		return ruling{reasons: []string{"outage_limit"}}
	}
	if token != "" {
		found := false
		for _, g := range c.mem.grants {
			if g.TokenHash != "" && g.Kind == "permit" && g.RevokedAt.IsZero() && slices.Contains(c.links, token) && g.ID[len(g.ID)-1:] == token[len(token)-1:] {
				found, phone = true, g.Phone // the i-th grant has the i-th token
			}
		}
		if !found {
			return ruling{reasons: []string{"link_invalid"}}
		}
	}
	switch c.refMode(door, now) {
	case "closed":
		return ruling{reasons: []string{"closed_window"}}
	case "free":
		return ruling{allow: true, reasons: []string{"free_window"}}
	}
	var why []string
	best := map[string][]string{} // kind -> grants that may be credited
	soonest := int64(math.MaxInt64)
	for _, g := range c.mem.grants {
		from, to := g.StartsAt.UnixMilli(), int64(math.MaxInt64)
		if !g.EndsAt.IsZero() {
			to = g.EndsAt.UnixMilli()
		}
		switch {
		case g.Phone != phone:
		case !g.RevokedAt.IsZero():
			why = append(why, "revoked")
		case from > now:
			why = append(why, "not_started")
		case to <= now:
			why = append(why, "expired")
		case !slices.Contains(g.Doors, door):
			why = append(why, "door_out_of_scope")
		case g.Kind == "permit" && to < soonest:
			best["permit"], soonest = []string{g.ID}, to
		case g.Kind != "permit" || to == soonest:
			best[g.Kind] = append(best[g.Kind], g.ID)
		}
	}
	for _, kind := range []string{"permit", "reservation", "membership"} {
		if len(best[kind]) > 0 {
			return ruling{allow: true, reasons: []string{method}, credits: best[kind]}
		}
	}
	if len(why) == 0 {
		why = []string{"no_valid_grant"}
	}
	return ruling{reasons: why}
}

// wrongDoor: a caller gets the first entry door of the credited grant, otherwise the first one with a free window.
// A grant without an entry door is skipped. A refusal names the first entry door of the grants that miss by the least.
func (c *agreeCase) wrongDoor(phone, door string, now int64) string {
	var free, entry []string
	for _, d := range c.mem.doors {
		if d.Entry {
			entry = append(entry, d.ID)
			if c.refMode(d.ID, now) == "free" {
				free = append(free, d.ID)
			}
		}
	}
	granted := map[string][]string{} // kind -> correct doors
	soonest := int64(math.MaxInt64)
	for _, g := range c.mem.grants {
		to := int64(math.MaxInt64)
		if !g.EndsAt.IsZero() {
			to = g.EndsAt.UnixMilli()
		}
		i := slices.IndexFunc(entry, func(d string) bool { return slices.Contains(g.Doors, d) })
		switch {
		case i < 0 || g.Phone != phone || !g.RevokedAt.IsZero() || now < g.StartsAt.UnixMilli() || now >= to:
		case g.Kind == "permit" && to < soonest:
			granted["permit"], soonest = []string{entry[i]}, to
		case g.Kind != "permit" || to == soonest:
			granted[g.Kind] = append(granted[g.Kind], entry[i])
		}
	}
	for _, kind := range []string{"permit", "reservation", "membership"} {
		if right := granted[kind]; len(right) > 0 {
			if !slices.Contains(right, door) {
				return fmt.Sprint("the caller got ", door, ", not ", right)
			}
			return ""
		}
	}
	want := c.missed(phone, entry, now)
	if len(free) > 0 {
		want = free[0]
	}
	if door != want {
		return fmt.Sprintf("the caller got door %q, not %q", door, want)
	}
	return ""
}

// missed is the door that a refused caller is told: the first entry door of the grants that start later, else of those
// that are over, else of those that were revoked; none while some grant is valid, because then no entry door is in scope.
func (c *agreeCase) missed(phone string, entry []string, now int64) string {
	doors := map[string][]string{}
	for _, g := range c.mem.grants {
		state := "valid"
		switch {
		case g.Phone != phone:
			continue
		case !g.RevokedAt.IsZero():
			state = "revoked"
		case now < g.StartsAt.UnixMilli():
			state = "later"
		case !g.EndsAt.IsZero() && now >= g.EndsAt.UnixMilli():
			state = "over"
		}
		doors[state] = append(append(doors[state], ""), g.Doors...)
	}
	for _, state := range []string{"valid", "later", "over", "revoked"} {
		if len(doors[state]) == 0 {
			continue
		}
		for _, d := range entry {
			if slices.Contains(doors[state], d) {
				return d
			}
		}
		return ""
	}
	return ""
}

func (c *agreeCase) refMode(door string, now int64) string {
	class := map[string]int{"always": 1, "business_hours": 2, "after_hours": 2, "custom": 3}
	mode, rank := "auth", [3]string{}
	for _, w := range c.mem.windows {
		if w.DoorID != door || !c.refActive(w.Ref, w.StartsAt, w.EndsAt, w.Week, now) {
			continue
		}
		if r := [3]string{fmt.Sprint(class[w.Ref]), fmt.Sprintf("%09d", w.CreatedAt), w.ID}; slices.Compare(r[:], rank[:]) > 0 {
			mode, rank = w.Mode, r
		}
	}
	return mode
}

func (c *agreeCase) refActive(ref string, from, to int64, week map[string][][2]string, now int64) bool {
	p := c.mem.place
	own := func(day time.Time) [][2]string { return week[refDay(day)] }
	switch ref {
	case "business_hours":
		return c.refOpen(c.refHours, now)
	case "after_hours":
		return !c.refOpen(c.refHours, now)
	case "custom":
		if from != 0 && now < from || to != 0 && now >= to {
			return false
		}
		return len(week) == 0 || refAt(own, now+refOffset(p.Timezone))
	}
	return true
}

func refDay(day time.Time) string {
	return []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}[day.Weekday()]
}

func refOffset(zone string) int64 {
	return map[string]int64{"Asia/Seoul": 9 * 60, "Asia/Kolkata": 5*60 + 30}[zone] * 60_000
}

func (c *agreeCase) refClosed(day time.Time) bool {
	for _, x := range c.mem.place.Closures {
		if d := day.Format(time.DateOnly); x.From <= d && d <= x.To {
			return true
		}
	}
	return false
}

func (c *agreeCase) refHours(day time.Time) [][2]string {
	if c.refClosed(day) {
		return nil
	}
	for _, x := range c.mem.place.Holidays {
		if x.Date == day.Format(time.DateOnly) {
			return x.Intervals
		}
	}
	return c.mem.place.Week[refDay(day)]
}

func (c *agreeCase) refOpen(hours func(time.Time) [][2]string, now int64) bool {
	local := now + refOffset(c.mem.place.Timezone)
	return !c.refClosed(time.UnixMilli(local).UTC()) && refAt(hours, local)
}

// refAt: is a local wall time (as if UTC) within an interval of its day, or in one that continues from the day
// before?
func refAt(hours func(time.Time) [][2]string, local int64) bool {
	t := time.UnixMilli(local).UTC()
	text := t.Format("15:04")
	for _, p := range hours(t) {
		if text >= p[0] && (text < p[1] || p[1] <= p[0]) {
			return true
		}
	}
	for _, p := range hours(t.AddDate(0, 0, -1)) {
		if p[1] <= p[0] && text < p[1] {
			return true
		}
	}
	return false
}
