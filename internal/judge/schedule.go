package judge

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/doorlab/doorlab/internal/amount"
)

const scheduleRoute = "/core/v1/public/places/{id}/schedule"

// scheduleDay is a day as the public schedule shows it.
type scheduleDay struct {
	Date      string `json:"date"`
	Weekday   string `json:"weekday"`
	Open      bool   `json:"open"`
	Intervals []struct {
		Start    string    `json:"start"`
		End      string    `json:"end"`
		StartsAt time.Time `json:"startsAt"`
		EndsAt   time.Time `json:"endsAt"`
	} `json:"intervals"`
	Note *dayNote `json:"note"`
}

// dayNote says why a day isn't like its weekday.
type dayNote struct {
	Type string `json:"type"`
	Name string `json:"name"`
}

func (n *dayNote) String() string {
	if n == nil {
		return "nothing"
	}
	return fmt.Sprintf("%s %q", n.Type, n.Name)
}

// hrs2 judges HRS-2: the public schedule shows the days from today on in the place's zone, and the same open times as
// the reference computes from the place's hours, closures and holidays.
func hrs2(v *View) Verdict {
	t := &tally{}
	days := 0
	var telling []*call
	for _, c := range v.calls() {
		p := v.places[c.Path]
		if c.Route != scheduleRoute || !c.ok() || c.SentNs == 0 || !v.knows(p, c) {
			continue
		}
		raw, _ := json.Marshal(c.Out["days"])
		var shown []scheduleDay
		if json.Unmarshal(raw, &shown) != nil {
			continue
		}
		why := ""
		for _, h := range during(v, c, p.content.hours) {
			if why = h.is.shows(c, shown); why == "" {
				break
			}
		}
		t.checked++
		days += len(shown)
		if p.content.special(c, shown) {
			telling = append(telling, c)
		}
		if why != "" {
			t.bad(c.Event, "the schedule of %s: %s", c.Path, why) // [HRS-2]
		}
	}
	return t.verdict(v, "HRS-2", fmt.Sprintf("%s schedules, %s days equal to the reference", amount.Number(t.checked), amount.Number(days))).
		triedIf(v.told, len(telling), "no schedule showed a closure, a holiday or hours that had changed: every day was as its weekday always is").
		at(v, times(telling))
}

// special reports whether a schedule shows more than an ordinary week: a closure, a holiday, or hours other than those that
// the history began with.
func (c *content) special(read *call, shown []scheduleDay) bool {
	if slices.ContainsFunc(shown, func(d scheduleDay) bool { return d.Note != nil }) {
		return true
	}
	return len(c.hours) > 0 && c.hours[0].is.shows(read, shown) != ""
}

// shows compares a schedule with the hours; "" or how they differ.
func (h refHours) shows(c *call, shown []scheduleDay) string {
	loc, err := time.LoadLocation(h.Timezone)
	if err != nil {
		return ""
	}
	if zone := c.out("timezone"); zone != h.Timezone {
		return fmt.Sprintf("its time zone is %q, but the place's is %s", zone, h.Timezone)
	}
	if q, err := url.ParseQuery(c.Query); err == nil && (q.Get("days") == "" && len(shown) != 7 || q.Get("days") != "" && q.Get("days") != strconv.Itoa(len(shown))) {
		return fmt.Sprintf("%d days, asked for %q", len(shown), q.Get("days"))
	}
	today := []string{time.UnixMilli(c.SentAt - clockMs).In(loc).Format(time.DateOnly), time.UnixMilli(c.At + clockMs).In(loc).Format(time.DateOnly)}
	if len(shown) > 0 && !slices.Contains(today, shown[0].Date) {
		return fmt.Sprintf("it begins on %s, but today is %s", shown[0].Date, today[0])
	}
	var got []run
	for i, d := range shown {
		day, err := time.Parse(time.DateOnly, d.Date)
		if err != nil || d.Weekday != weekdays[day.Weekday()] || d.Open != (len(h.instants(day, loc)) > 0) {
			return fmt.Sprintf("day %q is shown as %q, open: %v, but the hours have %s for it", d.Date, d.Weekday, d.Open, amount.Many(len(h.instants(day, loc)), "run"))
		}
		if first, _ := time.Parse(time.DateOnly, shown[0].Date); !day.Equal(first.AddDate(0, 0, i)) {
			return fmt.Sprintf("%s isn't the next day", d.Date)
		}
		if note := h.note(day); d.Note.String() != note.String() {
			return fmt.Sprintf("%s has the note %s, but the hours say %s", d.Date, d.Note, note)
		}
		for _, r := range d.Intervals {
			got = append(got, run{r.StartsAt.UnixMilli(), r.EndsAt.UnixMilli()})
			if !wallTime(r.Start, r.StartsAt.In(loc)) || !wallTime(r.End, r.EndsAt.In(loc)) {
				return fmt.Sprintf("%s is open from %s to %s, but by the instants from %s to %s", d.Date, r.Start, r.End, r.StartsAt.In(loc).Format(clockForm), r.EndsAt.In(loc).Format(clockForm))
			}
		}
	}
	if want := h.between(shown, loc); !slices.Equal(got, want) {
		return fmt.Sprintf("open %s, but the hours say %s", runsText(got, loc), runsText(want, loc))
	}
	return ""
}

const clockForm = "15:04"

// wallTime reports whether a text such as 09:00 or 24:00 is what clocks show at an instant. In the night in which they are
// put forward an hour is skipped, and the text may be in it: then no clock shows it on that day.
func wallTime(text string, at time.Time) bool {
	if text == "24:00" {
		text = "00:00"
	}
	said, err := time.Parse(clockForm, text)
	if err != nil {
		return false
	}
	shown := time.Date(at.Year(), at.Month(), at.Day(), said.Hour(), said.Minute(), 0, 0, at.Location())
	return text == at.Format(clockForm) || text != shown.Format(clockForm)
}

// longestRun is how many days a run is followed beyond the last day shown.
const longestRun = 366

// between are the runs that begin on the days shown. Runs that overlap across days are one, of the day on which it
// begins, complete even beyond the last day; the night before the first day isn't shown and takes nothing from it.
func (h refHours) between(shown []scheduleDay, loc *time.Location) (out []run) {
	if len(shown) == 0 {
		return nil
	}
	first, _ := time.Parse(time.DateOnly, shown[0].Date)
	for i := range len(shown) + longestRun {
		day, over := h.instants(first.AddDate(0, 0, i), loc), false
		for _, r := range day {
			switch n := len(out); {
			case n > 0 && r.from < out[n-1].to:
				out[n-1].to = max(out[n-1].to, r.to)
			case i >= len(shown):
				over = true
			default:
				out = append(out, r)
			}
		}
		if i >= len(shown) && (over || len(day) == 0) {
			break
		}
	}
	return out
}

// run is a time in Unix ms, its end excluded.
type run struct{ from, to int64 }

func runsText(list []run, loc *time.Location) string {
	if len(list) == 0 {
		return "never"
	}
	const layout = "01-02 15:04"
	r := list[0]
	return fmt.Sprintf("%s to %s and %d more", time.UnixMilli(r.from).In(loc).Format(layout), time.UnixMilli(r.to).In(loc).Format(layout), len(list)-1)
}
