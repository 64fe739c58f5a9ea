package judge

import (
	"cmp"
	"slices"
	"time"
	_ "time/tzdata" // the judge reads the same zones everywhere
)

// refWindow is a time-window policy as synchronized.
type refWindow struct {
	ID        string                 `json:"id"`
	DoorID    string                 `json:"doorId"`
	Ref       string                 `json:"ref"`
	Mode      string                 `json:"mode"`
	Week      map[string][][2]string `json:"week"`
	StartsAt  int64                  `json:"startsAt"`
	EndsAt    int64                  `json:"endsAt"`
	CreatedAt int64                  `json:"createdAt"`
}

// refHours are a place's hours as synchronized.
type refHours struct {
	Timezone string                 `json:"timezone"`
	Week     map[string][][2]string `json:"week"`
	Closures []refClosure           `json:"closures"`
	Holidays []refHoliday           `json:"holidays"`
}

// refClosure closes a place from one day to another, both included.
type refClosure struct {
	From string `json:"from"`
	To   string `json:"to"`
	Name string `json:"name"`
}

// refHoliday is a day with hours of its own, or none.
type refHoliday struct {
	Date      string      `json:"date"`
	Name      string      `json:"name"`
	Intervals [][2]string `json:"intervals"`
}

// modeAt is a door's window mode; ok is false if a window is of a kind unknown to the reference.
func modeAt(windows []refWindow, hours refHours, door string, now int64) (mode string, ok bool) {
	class := map[string]int{"always": 1, "business_hours": 2, "after_hours": 2, "custom": 3}
	var best *refWindow
	for i := range windows {
		w := &windows[i]
		if w.DoorID != door {
			continue
		}
		on, sure := w.active(hours, now)
		if !sure {
			return "", false
		}
		if !on {
			continue
		}
		if best == nil || class[w.Ref] > class[best.Ref] ||
			class[w.Ref] == class[best.Ref] && (w.CreatedAt > best.CreatedAt || w.CreatedAt == best.CreatedAt && w.ID > best.ID) {
			best = w
		}
	}
	if best == nil {
		return "auth", true
	}
	return best.Mode, true
}

func (w *refWindow) active(hours refHours, now int64) (on, sure bool) {
	switch w.Ref {
	case "always":
		return true, true
	case "business_hours":
		return hours.open(now), true
	case "after_hours":
		return !hours.open(now), true
	case "custom":
		if now < w.StartsAt || w.EndsAt != 0 && now >= w.EndsAt {
			return false, true
		}
		if len(w.Week) == 0 {
			return true, true
		}
		return refHours{Timezone: hours.Timezone, Week: w.Week}.open(now), true
	}
	return false, false
}

// open reports whether a run of today, or one that began yesterday, covers the time.
func (h refHours) open(now int64) bool {
	loc, err := time.LoadLocation(h.Timezone)
	if err != nil {
		loc = time.UTC
	}
	t := time.UnixMilli(now).In(loc)
	today := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	return slices.ContainsFunc(append(h.instants(today, loc), h.instants(today.AddDate(0, 0, -1), loc)...), func(r run) bool { return now >= r.from && now < r.to })
}

// instants are a day's runs in order, cut where they extend into a closed day.
func (h refHours) instants(day time.Time, loc *time.Location) (out []run) {
	for _, r := range h.runs(day) {
		to := r[1]
		if to > 1440 && h.closed(day.AddDate(0, 0, 1)) {
			to = 1440
		}
		if x := (run{onWall(day, r[0], loc), onWall(day, to, loc)}); x.from < x.to { // a night that loses an hour can swallow it
			out = append(out, x)
		}
	}
	slices.SortFunc(out, func(a, b run) int { return cmp.Compare(a.from, b.from) }) // however they stand in the week
	return out
}

// onWall is when the clocks of a zone show a minute of the day, in Unix ms; the first of two times. A skipped time
// comes as long after the change as it would have without it.
func onWall(day time.Time, minute int, loc *time.Location) int64 {
	shown := time.Date(day.Year(), day.Month(), day.Day(), 0, minute, 0, 0, time.UTC)
	skipped := int64(0)
	for at := shown.Add(-36 * time.Hour); ; { // offset by offset, in order
		_, offset := at.In(loc).Zone()
		_, end := at.In(loc).ZoneBounds()
		if !end.IsZero() && !end.After(at) { // on the last day of a leap year, Go gives an end that has passed
			end = at.Add(24 * time.Hour)
		}
		instant := shown.Add(-time.Duration(offset) * time.Second)
		switch {
		case !end.IsZero() && !instant.Before(end):
			skipped, at = instant.UnixMilli(), end
		case instant.Before(at): // by the new offset it has passed already
			return skipped
		default:
			return instant.UnixMilli()
		}
	}
}

func (h refHours) closed(day time.Time) bool {
	note := h.note(day)
	return note != nil && note.Type == "closure"
}

// note says why a day isn't like its weekday; nil if it is. A closure beats a holiday.
func (h refHours) note(day time.Time) *dayNote {
	date := day.Format(time.DateOnly)
	for _, c := range h.Closures {
		if date >= c.From && date <= c.To {
			return &dayNote{"closure", c.Name}
		}
	}
	for _, x := range h.Holidays {
		if x.Date == date {
			return &dayNote{"holiday", x.Name}
		}
	}
	return nil
}

// runs are a day's intervals in minutes; one past midnight exceeds 1440.
func (h refHours) runs(day time.Time) [][2]int {
	if h.closed(day) {
		return nil
	}
	pairs := h.Week[weekdays[day.Weekday()]]
	for _, x := range h.Holidays {
		if x.Date == day.Format(time.DateOnly) {
			pairs = x.Intervals
		}
	}
	var out [][2]int
	for _, p := range pairs {
		from, to := minuteOf(p[0]), minuteOf(p[1])
		if to <= from {
			to += 1440
		}
		out = append(out, [2]int{from, to})
	}
	return out
}

func minuteOf(s string) int {
	if len(s) != 5 {
		return 0
	}
	n := func(i int) int { return int(s[i]-'0')*10 + int(s[i+1]-'0') }
	return n(0)*60 + n(3)
}
