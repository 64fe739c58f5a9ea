package judge

import (
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
	Closures []struct {
		From string `json:"from"`
		To   string `json:"to"`
	} `json:"closures"`
	Holidays []struct {
		Date      string      `json:"date"`
		Intervals [][2]string `json:"intervals"`
	} `json:"holidays"`
}

// modeAt is a door's window mode; not ok around a change of the clocks, where
// the reference, which reads wall times only, keeps out.
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
		return hours.open(now)
	case "after_hours":
		on, sure = hours.open(now)
		return !on, sure
	case "custom":
		if now < w.StartsAt || w.EndsAt != 0 && now >= w.EndsAt {
			return false, true
		}
		if len(w.Week) == 0 {
			return true, true
		}
		return refHours{Timezone: hours.Timezone, Week: w.Week}.open(now)
	}
	return false, false
}

// open: is the place open by the clock on its wall, on a run of today or on one
// that began yesterday.
func (h refHours) open(now int64) (on, sure bool) {
	loc, err := time.LoadLocation(h.Timezone)
	if err != nil {
		loc = time.UTC
	}
	t := time.UnixMilli(now).In(loc)
	_, before := t.Add(-36 * time.Hour).Zone()
	_, after := t.Add(36 * time.Hour).Zone()
	if before != after {
		return false, false
	}
	minute := float64(t.Hour()*60+t.Minute()) + float64(t.Second())/60 + float64(t.Nanosecond())/6e10
	yesterday := time.Date(t.Year(), t.Month(), t.Day()-1, 12, 0, 0, 0, time.UTC)
	today := yesterday.AddDate(0, 0, 1)
	if h.closed(today) { // beats also the night that runs into it
		return false, true
	}
	for _, r := range h.runs(today) {
		if minute >= r[0] && minute < r[1] {
			return true, true
		}
	}
	for _, r := range h.runs(yesterday) {
		if minute+1440 < r[1] {
			return true, true
		}
	}
	return false, true
}

func (h refHours) closed(day time.Time) bool {
	date := day.Format(time.DateOnly)
	for _, c := range h.Closures {
		if date >= c.From && date <= c.To {
			return true
		}
	}
	return false
}

// runs are a day's intervals in minutes; one past midnight goes beyond 1440.
func (h refHours) runs(day time.Time) [][2]float64 {
	if h.closed(day) {
		return nil
	}
	pairs := h.Week[weekdays[day.Weekday()]]
	for _, x := range h.Holidays {
		if x.Date == day.Format(time.DateOnly) {
			pairs = x.Intervals
		}
	}
	var out [][2]float64
	for _, p := range pairs {
		from, to := minuteOf(p[0]), minuteOf(p[1])
		if to <= from {
			to += 1440
		}
		out = append(out, [2]float64{from, to})
	}
	return out
}

func minuteOf(s string) float64 {
	if len(s) != 5 {
		return 0
	}
	n := func(i int) float64 { return float64(s[i]-'0')*10 + float64(s[i+1]-'0') }
	return n(0)*60 + n(3)
}
