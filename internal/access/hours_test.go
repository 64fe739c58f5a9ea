package access

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func day(s string) time.Time {
	t, err := time.Parse(dateForm, s)
	if err != nil {
		panic(err)
	}
	return t
}

func show(ds []Day) string {
	out := ""
	for _, d := range ds {
		out += d.Weekday
		for _, iv := range d.Intervals {
			out += fmt.Sprintf(" %s-%s(%s+%s)", iv.Start, iv.End, iv.From.UTC().Format("02T15:04"), iv.To.Sub(iv.From))
		}
		if d.Note != nil {
			out += " " + d.Note.Type
		}
		out += ";"
	}
	return out
}

func TestSchedule(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		h     Hours
		first string // 2026-10-05 is a Monday
		n     int
		want  string
	}{
		"plain week":    {Hours{Timezone: "Asia/Seoul", Week: Week{"mon": {{"09:00", "22:00"}}, "tue": {}}}, "2026-10-05", 2, "mon 09:00-22:00(05T00:00+13h0m0s);tue;"},
		"24:00":         {Hours{Timezone: "UTC", Week: Week{"mon": {{"00:00", "24:00"}}, "tue": {{"00:00", "24:00"}}}}, "2026-10-05", 2, "mon 00:00-24:00(05T00:00+24h0m0s);tue 00:00-24:00(06T00:00+24h0m0s);"},
		"past midnight": {Hours{Timezone: "UTC", Week: Week{"mon": {{"22:00", "02:00"}}}}, "2026-10-05", 2, "mon 22:00-02:00(05T22:00+4h0m0s);tue;"},
		"merged": {Hours{Timezone: "UTC", Week: Week{"mon": {{"22:00", "02:00"}}, "tue": {{"01:00", "05:00"}, {"09:00", "10:00"}}}}, "2026-10-05", 2,
			"mon 22:00-05:00(05T22:00+7h0m0s);tue 09:00-10:00(06T09:00+1h0m0s);"},
		"the last run is whole": {Hours{Timezone: "UTC", Week: Week{"mon": {{"22:00", "02:00"}}, "tue": {{"01:00", "23:00"}, {"23:00", "05:00"}}, "wed": {{"04:00", "06:00"}, {"08:00", "09:00"}}}}, "2026-10-05", 1,
			"mon 22:00-23:00(05T22:00+25h0m0s);"},
		"a long night is followed": {Hours{Timezone: "UTC", Week: Week{"mon": {{"22:00", "02:00"}}, "tue": {{"01:00", "00:30"}}, "wed": {{"00:00", "06:00"}, {"08:00", "09:00"}}}}, "2026-10-05", 1,
			"mon 22:00-06:00(05T22:00+32h0m0s);"},
		"the night before takes nothing": {Hours{Timezone: "UTC", Week: Week{"mon": {{"22:00", "02:00"}}, "tue": {{"01:00", "05:00"}}}}, "2026-10-06", 1,
			"tue 01:00-05:00(06T01:00+4h0m0s);"},
		"closure beats holiday and the night into it": {Hours{Timezone: "UTC", Week: Week{"mon": {{"22:00", "02:00"}}, "tue": {{"09:00", "10:00"}}},
			Closures: []Closure{{"2026-10-06", "2026-10-06", "Refit"}}, Holidays: []Holiday{{Date: "2026-10-06", Intervals: [][2]string{{"01:00", "02:00"}}}}},
			"2026-10-05", 2, "mon 22:00-24:00(05T22:00+2h0m0s);tue closure;"},
		"holiday closed":     {Hours{Timezone: "UTC", Week: Week{"mon": {{"09:00", "10:00"}}}, Holidays: []Holiday{{Date: "2026-10-05"}}}, "2026-10-05", 1, "mon holiday;"},
		"holiday with hours": {Hours{Timezone: "UTC", Holidays: []Holiday{{Date: "2026-10-05", Intervals: [][2]string{{"11:00", "12:00"}}}}}, "2026-10-05", 1, "mon 11:00-12:00(05T11:00+1h0m0s) holiday;"},
		// New York, 2026: clocks go forward on 8 March at 2:00, back on 1 November at 2:00.
		"spring night is shorter":    {Hours{Timezone: "America/New_York", Week: Week{"sat": {{"22:00", "06:00"}}}}, "2026-03-07", 1, "sat 22:00-06:00(08T03:00+7h0m0s);"},
		"autumn night is longer":     {Hours{Timezone: "America/New_York", Week: Week{"sat": {{"22:00", "06:00"}}}}, "2026-10-31", 1, "sat 22:00-06:00(01T02:00+9h0m0s);"},
		"skipped start":              {Hours{Timezone: "America/New_York", Week: Week{"sun": {{"02:30", "05:00"}}}}, "2026-03-08", 1, "sun 02:30-05:00(08T07:30+1h30m0s);"},
		"swallowed whole":            {Hours{Timezone: "America/New_York", Week: Week{"sun": {{"02:30", "03:10"}}}}, "2026-03-08", 1, "sun;"},
		"doubled start is the first": {Hours{Timezone: "America/New_York", Week: Week{"sun": {{"01:30", "03:00"}}}}, "2026-11-01", 1, "sun 01:30-03:00(01T05:30+2h30m0s);"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := show(tt.h.Schedule(day(tt.first), tt.n)); got != tt.want {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestCheckDay(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		day [][2]string
		ok  bool
	}{
		{[][2]string{{"09:00", "22:00"}}, true},
		{[][2]string{{"09:00", "12:00"}, {"12:00", "24:00"}}, true},
		{[][2]string{{"22:00", "02:00"}, {"01:00", "03:00"}}, true},
		{[][2]string{{"22:00", "02:00"}, {"23:00", "23:30"}}, false},
		{[][2]string{{"09:00", "12:00"}, {"11:59", "13:00"}}, false},
		{[][2]string{{"09:00", "09:00"}}, false},
		{[][2]string{{"24:00", "02:00"}}, false},
		{[][2]string{{"9:00", "10:00"}}, false},
		{[][2]string{{"09:60", "10:00"}}, false},
		{[][2]string{{"09:00", "24:01"}}, false},
		{[][2]string{{"1/:00", "10:00"}}, false}, // the neighbours of 0 and 9 in ASCII
		{[][2]string{{"0::00", "18:00"}}, false},
		{[][2]string{{"09:0:", "18:00"}}, false},
		{[][2]string{{"09.00", "18:00"}}, false},
		{nil, true},
	} {
		if err := CheckDay(tt.day); (err == nil) != tt.ok {
			t.Errorf("%v: got %v, want it valid: %t", tt.day, err, tt.ok)
		}
	}
}

func TestMode(t *testing.T) {
	t.Parallel()
	h := Hours{Timezone: "UTC", Week: Week{"mon": {{"09:00", "22:00"}}}}
	noon, night := day("2026-10-05").Add(12*time.Hour), day("2026-10-05").Add(23*time.Hour)
	w := func(id, ref, mode string, created int64) Window {
		return Window{ID: id, DoorID: "d", Ref: ref, Mode: mode, CreatedAt: created}
	}
	always, business, after := w("a", RefAlways, ModeClosed, 9), w("b", RefBusiness, ModeFree, 2), w("c", RefAfter, ModeAuth, 1)
	custom := w("x", RefCustom, ModeClosed, 0)
	custom.StartsAt, custom.EndsAt = noon.UnixMilli(), noon.Add(time.Minute).UnixMilli()
	weekly := w("y", RefCustom, ModeFree, 5)
	weekly.Week = Week{"mon": {{"23:00", "01:00"}}}
	for name, tt := range map[string]struct {
		ws   []Window
		now  time.Time
		want string
	}{
		"none is auth":                  {nil, noon, ModeAuth},
		"always":                        {[]Window{always}, noon, ModeClosed},
		"business hours beat always":    {[]Window{business, always}, noon, ModeFree},
		"after hours beat always":       {[]Window{after, always}, night, ModeAuth},
		"outside business hours":        {[]Window{business}, night, ModeAuth},
		"custom beats all, from start":  {[]Window{always, business, custom}, noon, ModeClosed},
		"custom until its end":          {[]Window{business, custom}, noon.Add(time.Minute), ModeFree},
		"custom week":                   {[]Window{weekly, always}, night, ModeFree},
		"custom week past midnight":     {[]Window{weekly}, night.Add(2*time.Hour - time.Millisecond), ModeFree},
		"custom week over":              {[]Window{weekly}, night.Add(2 * time.Hour), ModeAuth},
		"newest of a class":             {[]Window{w("p", RefCustom, ModeFree, 2), w("q", RefCustom, ModeClosed, 1)}, noon, ModeFree},
		"another door's window":         {[]Window{{DoorID: "e", Ref: RefAlways, Mode: ModeClosed}}, noon, ModeAuth},
		"hours open on the dot":         {[]Window{business}, day("2026-10-05").Add(9 * time.Hour), ModeFree},
		"hours are closed at their end": {[]Window{business}, day("2026-10-05").Add(22 * time.Hour), ModeAuth},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Mode(tt.ws, h, "d", tt.now); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// The schedule and openAt must agree, in any zone.
func TestScheduleAgreesWithOpenAt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h := Hours{Timezone: rapid.SampledFrom([]string{"Asia/Seoul", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "UTC"}).Draw(t, "zone"), Week: Week{}}
		for _, d := range weekdays {
			at := 0
			for range rapid.IntRange(0, 3).Draw(t, d) {
				from := at + rapid.IntRange(0, 400).Draw(t, "gap")
				to := from + rapid.IntRange(1, 700).Draw(t, "length")
				if from >= 24*60 || to > 24*60+from-1 {
					break
				}
				at = to
				if to > 24*60 {
					to -= 24 * 60
				}
				h.Week[d] = append(h.Week[d], [2]string{fmt.Sprintf("%02d:%02d", from/60, from%60), fmt.Sprintf("%02d:%02d", to/60, to%60)})
			}
		}
		for _, pairs := range h.Week {
			if err := CheckDay(pairs); err != nil {
				t.Skip(err)
			}
		}
		first := time.Date(2026, time.Month(rapid.IntRange(1, 12).Draw(t, "month")), rapid.IntRange(1, 28).Draw(t, "day"), 0, 0, 0, 0, time.UTC)
		ds := h.Schedule(first.AddDate(0, 0, -8), 12) // far enough back for any chain of intervals
		at := first.Add(time.Duration(rapid.IntRange(0, 48*60).Draw(t, "minute")) * time.Minute)
		var in bool
		for i, d := range ds {
			in = in || covers(d.Intervals, at)
			for j, iv := range d.Intervals {
				if !iv.From.Before(iv.To) {
					t.Fatalf("interval %+v is empty or reversed, want From before To", iv)
				}
				if j > 0 && iv.From.Before(ds[i].Intervals[j-1].To) {
					t.Fatalf("intervals overlap in %+v, want none to", ds[i])
				}
			}
		}
		if open := h.openAt(at); open != in {
			t.Fatalf("openAt says %v, the schedule %v at %s, want the same: %s", open, in, at, show(ds))
		}
	})
}
