package judge

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/doorlab/doorlab/internal/history"
)

const scheduleRoute = "/core/v1/public/places/{id}/schedule"

// scheduleDay is a day as the public schedule shows it.
type scheduleDay struct {
	Date      string `json:"date"`
	Weekday   string `json:"weekday"`
	Open      bool   `json:"open"`
	Intervals []struct {
		StartsAt time.Time `json:"startsAt"`
		EndsAt   time.Time `json:"endsAt"`
	} `json:"intervals"`
}

// Hrs2 judges HRS-2: the public schedule shows the days from today on in the
// place's zone, and the same open time as the reference computes from the place's hours,
// closures and holidays.
func Hrs2(v *View) Verdict {
	t := &tally{}
	days := 0
	for _, c := range v.calls() {
		p := v.places[c.Path]
		if c.Route != scheduleRoute || !c.ok() || c.SentNs == 0 || !p.knows(c) {
			continue
		}
		raw, _ := json.Marshal(c.Out["days"])
		var shown []scheduleDay
		if json.Unmarshal(raw, &shown) != nil {
			continue
		}
		why := ""
		for _, h := range during(v, c, p.content.hours, func(h hoursAt) *history.Event { return h.e }) {
			if why = h.hours.shows(c, shown); why == "" {
				break
			}
		}
		t.checked++
		days += len(shown)
		if why != "" {
			t.bad(c.Event, "the schedule of %s: %s", c.Path, why) // [HRS-2]
		}
	}
	return t.verdict(v, "HRS-2", fmt.Sprintf("%s schedules, %s days as the reference", count(t.checked), count(days)))
}

// shows compares a schedule with the hours; "" or how they differ.
func (h refHours) shows(c *call, shown []scheduleDay) string {
	loc, err := time.LoadLocation(h.Timezone)
	if err != nil {
		return ""
	}
	if q, err := url.ParseQuery(c.Query); err == nil && (q.Get("days") == "" && len(shown) != 7 || q.Get("days") != "" && q.Get("days") != strconv.Itoa(len(shown))) {
		return fmt.Sprintf("%d days, asked for %q", len(shown), q.Get("days"))
	}
	today := []string{time.UnixMilli(c.SentAt - ClockMs).In(loc).Format(time.DateOnly), time.UnixMilli(c.At + ClockMs).In(loc).Format(time.DateOnly)}
	if len(shown) > 0 && !slices.Contains(today, shown[0].Date) {
		return fmt.Sprintf("it begins on %s, today is %s", shown[0].Date, today[0])
	}
	var got, want, extra []run
	for i, d := range shown {
		day, err := time.Parse(time.DateOnly, d.Date)
		if err != nil || d.Weekday != weekdays[day.Weekday()] || d.Open != (len(d.Intervals) > 0) {
			return fmt.Sprintf("day %q, %q, open %v makes no sense", d.Date, d.Weekday, d.Open)
		}
		if first, _ := time.Parse(time.DateOnly, shown[0].Date); !day.Equal(first.AddDate(0, 0, i)) {
			return fmt.Sprintf("%s isn't the next day", d.Date)
		}
		if changesClock(day, loc) {
			return "" // the reference, which reads wall times only, keeps out
		}
		for _, r := range d.Intervals {
			got = append(got, run{r.StartsAt.UnixMilli(), r.EndsAt.UnixMilli()})
		}
		want = append(want, h.instants(day, loc)...)
		if i == 0 {
			extra = h.instants(day.AddDate(0, 0, -1), loc)
		}
	}
	a, b := merged(got), merged(want)
	if slices.Equal(a, b) || slices.Equal(merged(append(got, extra...)), merged(append(want, extra...))) {
		return ""
	}
	return fmt.Sprintf("open %s, the hours say %s", runsText(a, loc), runsText(b, loc))
}

// run is a time in Unix ms, its end excluded.
type run struct{ from, to int64 }

func changesClock(day time.Time, loc *time.Location) bool {
	at := time.Date(day.Year(), day.Month(), day.Day(), 12, 0, 0, 0, loc)
	_, before := at.Add(-36 * time.Hour).Zone()
	_, after := at.Add(36 * time.Hour).Zone()
	return before != after
}

// instants are a day's runs, cut where they reach into a day that is closed.
func (h refHours) instants(day time.Time, loc *time.Location) (out []run) {
	midnight := time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, loc).UnixMilli()
	for _, r := range h.runs(day) {
		to := r[1]
		if to > 1440 && h.closed(day.AddDate(0, 0, 1)) {
			to = 1440
		}
		out = append(out, run{midnight + int64(r[0])*60_000, midnight + int64(to)*60_000})
	}
	return out
}

// merged sorts runs and joins those that touch.
func merged(list []run) (out []run) {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b run) int { return cmp64(a.from, b.from) })
	for _, r := range list {
		if n := len(out); n > 0 && r.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, r.to)
			continue
		}
		out = append(out, r)
	}
	return out
}

func runsText(list []run, loc *time.Location) string {
	if len(list) == 0 {
		return "never"
	}
	const layout = "01-02 15:04"
	r := list[0]
	return fmt.Sprintf("%s to %s and %d more", time.UnixMilli(r.from).In(loc).Format(layout), time.UnixMilli(r.to).In(loc).Format(layout), len(list)-1)
}
