package access

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // server and board must agree on zones wherever they run
)

// Interval is one opening: instants, half open, and local times. A run past midnight belongs to the day on which it
// starts.
type Interval struct {
	Start, End string // "HH:MM", the end may be "24:00"
	From, To   time.Time
}

// Kinds of notes on a day.
const (
	noteClosure = "closure"
	noteHoliday = "holiday"
)

// Note says why a day differs from its week.
type Note struct{ Type, Name string }

// Day is one day of a schedule. Open means that the day has hours of its own, even if they merged into a run that began
// on an earlier day of the schedule.
type Day struct {
	Date      string // YYYY-MM-DD
	Weekday   string // mon..sun
	Open      bool
	Intervals []Interval
	Note      *Note
}

// Weekdays in the order of time.Weekday.
var weekdays = [...]string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// IsWeekday reports whether a name is one of mon..sun.
func IsWeekday(name string) bool { return slices.Contains(weekdays[:], name) }

// IsTimezone reports whether a name is one of the time zone database: Asia/Seoul, UTC.
func IsTimezone(name string) bool {
	_, err := time.LoadLocation(name)
	return err == nil && name != "" && name != "Local"
}

var zones sync.Map // name -> *time.Location: loading one reads a file

// zone is a timezone by name; UTC when there is none of that name.
func zone(name string) *time.Location {
	if l, ok := zones.Load(name); ok {
		return l.(*time.Location)
	}
	l, err := time.LoadLocation(name)
	if err != nil {
		l = time.UTC
	}
	zones.Store(name, l)
	return l
}

// In is a time in the place's zone.
func (h Hours) In(t time.Time) time.Time { return t.In(zone(h.Timezone)) }

// Today is the date at now in the place's zone, as midnight UTC of that date.
func (h Hours) Today(now time.Time) time.Time {
	y, m, d := now.In(zone(h.Timezone)).Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

const dateForm = "2006-01-02"

// intervals are the openings that start on a day (only its date counts), with closures and holidays applied, before
// they are merged with the days around, see HRS-2.
func (h Hours) intervals(day time.Time) []Interval {
	pairs, _ := h.pairs(day) // [HRS-2]
	ivs := weekIntervals(zone(h.Timezone), day, pairs)
	if len(ivs) == 0 {
		return nil
	}
	next := day.AddDate(0, 0, 1)
	if h.closure(next.Format(dateForm)) == nil {
		return ivs
	}
	midnight := wall(zone(h.Timezone), next, 0) // a closure cuts off the night that runs into it
	for i := range ivs {
		if ivs[i].To.After(midnight) {
			ivs[i].To, ivs[i].End = midnight, "24:00"
		}
	}
	return ivs
}

// pairs are a day's hours and the note on it.
func (h Hours) pairs(day time.Time) ([][2]string, *Note) {
	date := day.Format(dateForm)
	if c := h.closure(date); c != nil {
		return nil, &Note{noteClosure, c.Name}
	}
	for _, x := range h.Holidays {
		if x.Date == date {
			return x.Intervals, &Note{noteHoliday, x.Name}
		}
	}
	return h.Week[weekdays[day.Weekday()]], nil
}

func (h Hours) closure(date string) *Closure {
	for i, c := range h.Closures {
		if c.From <= date && date <= c.To {
			return &h.Closures[i]
		}
	}
	return nil
}

// Schedule is n days from first (only its date counts). Runs that overlap across days are one interval, of the day on
// which it starts; the last one is complete even if it ends after the last day. The night before the first day isn't
// shown, so it takes none of the first day's hours.
func (h Hours) Schedule(first time.Time, n int) []Day {
	first = time.Date(first.Year(), first.Month(), first.Day(), 0, 0, 0, 0, time.UTC)
	days := make([]Day, n)
	var run *Interval
	for i := range days {
		date := first.AddDate(0, 0, i)
		_, note := h.pairs(date)
		ivs := h.intervals(date)
		days[i] = Day{Date: date.Format(dateForm), Weekday: weekdays[date.Weekday()], Open: len(ivs) > 0, Note: note}
		days[i].Intervals = make([]Interval, 0, len(ivs)) // run points into it: it must not move
		for _, iv := range ivs {
			if joins(run, iv) {
				continue
			}
			days[i].Intervals = append(days[i].Intervals, iv)
			run = &days[i].Intervals[len(days[i].Intervals)-1]
		}
	}
	for i := n; i < n+longestRun && h.extended(run, first.AddDate(0, 0, i)); i++ {
	}
	return days
}

// longestRun bounds how many days a run is followed beyond the last day asked for: hours that always overlap would
// never end.
const longestRun = 366

// extended lets a run continue over a day after it, and reports whether it did.
func (h Hours) extended(run *Interval, day time.Time) (grown bool) {
	for _, iv := range h.intervals(day) {
		if !joins(run, iv) {
			return false
		}
		grown = true
	}
	return grown
}

// joins merges an interval into the run before it if they overlap.
func joins(run *Interval, iv Interval) bool {
	if run == nil || !iv.From.Before(run.To) {
		return false
	}
	if iv.To.After(run.To) {
		run.To, run.End = iv.To, iv.End
	}
	return true
}

// openAt reports whether the place is open at now.
func (h Hours) openAt(now time.Time) bool {
	today := h.Today(now)
	return covers(h.intervals(today), now) || covers(h.intervals(today.AddDate(0, 0, -1)), now)
}

func covers(ivs []Interval, now time.Time) bool {
	return slices.ContainsFunc(ivs, func(iv Interval) bool { return !now.Before(iv.From) && now.Before(iv.To) })
}

// weekIntervals turns a day's pairs into instants, in order.
func weekIntervals(loc *time.Location, day time.Time, pairs [][2]string) []Interval {
	var out []Interval
	for _, p := range pairs {
		from, err1 := minutes(p[0])
		to, err2 := minutes(p[1])
		if err1 != nil || err2 != nil {
			continue // never stored: CheckDay refuses it
		}
		if to <= from {
			to += 24 * 60
		}
		iv := Interval{Start: p[0], End: p[1], From: wall(loc, day, from), To: wall(loc, day, to)}
		if iv.From.Before(iv.To) { // a clock change can swallow it whole
			out = append(out, iv)
		}
	}
	slices.SortFunc(out, func(a, b Interval) int { return a.From.Compare(b.From) })
	return out
}

// minutes reads "HH:MM", up to "24:00".
func minutes(s string) (int, error) {
	if len(s) != 5 || s[2] != ':' {
		return 0, errors.New("must be HH:MM")
	}
	for _, i := range []int{0, 1, 3, 4} {
		if s[i] < '0' || s[i] > '9' {
			return 0, errors.New("must be HH:MM")
		}
	}
	h, m := int(s[0]-'0')*10+int(s[1]-'0'), int(s[3]-'0')*10+int(s[4]-'0')
	if h > 24 || m > 59 || h == 24 && m > 0 {
		return 0, errors.New("must be between 00:00 and 24:00")
	}
	return h*60 + m, nil
}

// wall is the instant at which clocks in loc show the minute of the day. If there are two, it is the first; a time
// skipped by a clock change is read with the offset before the change (RFC 5545).
func wall(loc *time.Location, day time.Time, minute int) time.Time {
	u := time.Date(day.Year(), day.Month(), day.Day(), 0, minute, 0, 0, time.UTC)
	offset := func(t time.Time) time.Duration {
		_, s := t.In(loc).Zone()
		return time.Duration(s) * time.Second
	}
	before, after := offset(u.Add(-24*time.Hour)), offset(u.Add(24*time.Hour))
	first, second := u.Add(-before), u.Add(-after)
	if offset(first) != before && offset(second) == after {
		return second
	}
	return first
}

// CheckDay returns an error for intervals of a day of which one has an invalid time or is empty, or two overlap.
func CheckDay(pairs [][2]string) error {
	type span struct {
		from, to int
		pair     [2]string
	}
	var spans []span
	for _, p := range pairs {
		from, err := minutes(p[0])
		if err != nil || from == 24*60 {
			return fmt.Errorf("start %q must be HH:MM", p[0])
		}
		to, err := minutes(p[1])
		if err != nil {
			return fmt.Errorf("end %q must be HH:MM", p[1])
		}
		if from == to {
			return fmt.Errorf("%s-%s has no length", p[0], p[1])
		}
		if to < from {
			to += 24 * 60
		}
		spans = append(spans, span{from, to, p})
	}
	slices.SortFunc(spans, func(a, b span) int { return a.from - b.from })
	for i := 1; i < len(spans); i++ {
		if a, b := spans[i-1], spans[i]; b.from < a.to {
			return fmt.Errorf("%s-%s and %s-%s overlap", a.pair[0], a.pair[1], b.pair[0], b.pair[1])
		}
	}
	return nil
}

// IsDate reports whether s is a date, YYYY-MM-DD.
func IsDate(s string) bool {
	_, err := time.Parse(dateForm, s)
	return err == nil
}

// active reports whether a window covers now.
func (w Window) active(h Hours, now time.Time) bool {
	switch w.Ref {
	case RefAlways:
		return true
	case RefBusiness:
		return h.openAt(now)
	case RefAfter:
		return !h.openAt(now)
	case RefCustom:
		ms := now.UnixMilli()
		if w.StartsAt != 0 && ms < w.StartsAt || w.EndsAt != 0 && ms >= w.EndsAt {
			return false
		}
		return len(w.Week) == 0 || Hours{Timezone: h.Timezone, Week: w.Week}.openAt(now)
	}
	return false
}

var refRank = map[string]int{RefAlways: 1, RefBusiness: 2, RefAfter: 2, RefCustom: 3}

// Mode is a door's window mode at now, see ENT-2; without a window in force it is auth.
func Mode(windows []Window, hours Hours, doorID string, now time.Time) string {
	if w := InForce(windows, hours, doorID, now); w != nil {
		return w.Mode // [ENT-2]
	}
	return ModeAuth
}

// InForce is the window that decides about a door at now: custom beats business_hours and after_hours, and those beat
// always; within a class the newest wins. It is nil if none covers now.
func InForce(windows []Window, hours Hours, doorID string, now time.Time) *Window {
	var best *Window
	for i := range windows {
		w := &windows[i]
		if w.DoorID != doorID || best != nil && !beats(*w, *best) {
			continue
		}
		if w.active(hours, now) {
			best = w
		}
	}
	return best
}

func beats(a, b Window) bool {
	if refRank[a.Ref] != refRank[b.Ref] {
		return refRank[a.Ref] > refRank[b.Ref]
	}
	if a.CreatedAt != b.CreatedAt {
		return a.CreatedAt > b.CreatedAt
	}
	return strings.Compare(a.ID, b.ID) > 0
}
