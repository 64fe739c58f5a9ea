package judge

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/vocab"
)

func seoul(s string) int64 {
	loc, _ := time.LoadLocation("Asia/Seoul")
	t, err := time.ParseInLocation("2006-01-02 15:04:05.000", s, loc)
	if err != nil {
		panic(err)
	}
	return t.UnixMilli()
}

func TestReferenceRules(t *testing.T) {
	t.Parallel()
	permit := func(id string, from, to int64, doors ...string) refGrant {
		return refGrant{ID: id, Kind: "permit", PhoneHash: "kim", Doors: doors, StartsAt: from, EndsAt: to}
	}
	of := func(kind string, g refGrant) refGrant { g.Kind = kind; return g }
	revoked := func(g refGrant) refGrant { g.Revoked = true; return g }
	linked := func(g refGrant, token string) refGrant { g.TokenHash = token; return g }
	always := func(mode string) []refWindow { return []refWindow{{ID: "p", DoorID: "d", Ref: "always", Mode: mode}} }
	for name, c := range map[string]struct {
		grants  []refGrant
		windows []refWindow
		e       history.Event
		want    vocab.Reason // reason
		credit  string
	}{
		"valid":                     {grants: []refGrant{permit("a", 100, 200, "d")}, want: "onsite", credit: "a"},
		"first moment":              {grants: []refGrant{permit("a", 150, 200, "d")}, want: "onsite", credit: "a"},
		"not started":               {grants: []refGrant{permit("a", 151, 200, "d")}, want: "not_started"},
		"end is out":                {grants: []refGrant{permit("a", 100, 150, "d")}, want: "expired"},
		"last moment":               {grants: []refGrant{permit("a", 100, 151, "d")}, want: "onsite", credit: "a"},
		"no end":                    {grants: []refGrant{permit("a", 100, 0, "d")}, want: "onsite", credit: "a"},
		"revoked":                   {grants: []refGrant{revoked(permit("a", 100, 200, "d"))}, want: "revoked"},
		"other door":                {grants: []refGrant{permit("a", 100, 200, "e")}, want: "door_out_of_scope"},
		"stranger":                  {e: history.Event{PhoneHash: "eve"}, grants: []refGrant{permit("a", 100, 200, "d")}, want: "no_valid_grant"},
		"membership after revoking": {grants: []refGrant{revoked(permit("a", 100, 200, "d")), of("membership", permit("m", 1, 0, "d"))}, want: "onsite", credit: "m"},
		"permit that ends first":    {grants: []refGrant{permit("a", 100, 0, "d"), permit("b", 100, 200, "d"), of("reservation", permit("r", 100, 160, "d"))}, want: "onsite", credit: "b"},
		"reservation before membership": {grants: []refGrant{of("membership", permit("m", 1, 160, "d")), of("reservation", permit("r", 100, 300, "d"))},
			want: "onsite", credit: "r"},
		"live link":    {e: history.Event{TokenHash: "tok"}, grants: []refGrant{linked(permit("a", 100, 200, "d"), "tok")}, want: "onsite", credit: "a"},
		"unknown link": {e: history.Event{TokenHash: "tik"}, grants: []refGrant{linked(permit("a", 100, 200, "d"), "tok")}, want: "link_invalid"},
		"revoked link, membership": {e: history.Event{TokenHash: "tok"}, grants: []refGrant{linked(revoked(permit("a", 100, 200, "d")), "tok"), of("membership", permit("m", 1, 0, "d"))},
			want: "link_invalid"},
		"free":           {windows: always("free"), want: "free_window"},
		"closed":         {windows: always("closed"), grants: []refGrant{permit("a", 100, 200, "d")}, want: "closed_window"},
		"board's clock":  {e: history.Event{BoardAt: 250}, grants: []refGrant{permit("a", 100, 200, "d")}, want: "expired"},
		"at 36 h":        {e: history.Event{OutageAgeMs: limitMs}, grants: []refGrant{permit("a", 100, 200, "d")}, want: "onsite", credit: "a"},
		"over 36 h":      {e: history.Event{OutageAgeMs: limitMs + 1}, windows: always("free"), want: "outage_limit"},
		"lost clock":     {e: history.Event{OutageAgeMs: -1}, grants: []refGrant{permit("a", 100, 200, "d")}, want: "outage_limit"},
		"older revision": {e: history.Event{Revision: 1}, grants: []refGrant{permit("a", 100, 200, "d")}, want: "no_valid_grant"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c0 := content{based: true, base: 1, windows: []stated[[]refWindow]{{rev: 1, is: c.windows}}, hours: []stated[refHours]{{rev: 1, is: refHours{Timezone: "Asia/Seoul"}}}}
			for _, g := range c.grants {
				c0.grant(&history.Event{Revision: 2}, g)
			}
			c0.finish()
			e := c.e
			e.At, e.DoorID = 150, "d"
			if e.Revision == 0 {
				e.Revision = 2
			}
			if e.PhoneHash == "" && e.TokenHash == "" {
				e.PhoneHash = "kim"
			}
			r := c0.rule(&e)
			if r.unknown || r.reasons[0] != c.want || r.allow != (c.want == "onsite" || c.want == "free_window") {
				t.Errorf("ruled %+v, want reason %s", r, c.want)
			}
			if c.credit != "" && (len(r.credits) != 1 || r.credits[0] != c.credit) {
				t.Errorf("got credits %v, want %s", r.credits, c.credit)
			}
		})
	}
}

func TestReferenceKeepsOutOfWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	known := content{based: true, base: 5}
	for _, e := range []history.Event{{Revision: 4, PhoneHash: "kim"}, {Revision: 5}} {
		if r := known.rule(&e); !r.unknown {
			t.Errorf("%+v: ruled %+v, want unknown", e, r)
		}
	}
	var none content
	if r := none.rule(&history.Event{Revision: 9, PhoneHash: "kim"}); !r.unknown {
		t.Errorf("ruled %+v without content, want unknown", r)
	}
}

func TestReferenceHours(t *testing.T) {
	t.Parallel()
	h := refHours{Timezone: "Asia/Seoul", Week: map[string][][2]string{
		"mon": {{"09:00", "18:00"}}, "fri": {{"22:00", "02:00"}}, "sat": {{"10:00", "24:00"}}, "wed": {{"22:00", "04:00"}},
	}}
	h.Closures = []refClosure{{From: "2026-12-24", To: "2026-12-25"}}
	h.Holidays = []refHoliday{{Date: "2026-11-16"}}
	for at, want := range map[string]bool{
		"2026-11-23 08:59:59.999": false, "2026-11-23 09:00:00.000": true, "2026-11-23 17:59:59.999": true, "2026-11-23 18:00:00.000": false,
		"2026-11-20 22:00:00.000": true, "2026-11-21 01:59:59.999": true, "2026-11-21 02:00:00.000": false,
		"2026-11-21 23:59:59.999": true, "2026-11-22 00:00:00.000": false,
		"2026-12-23 23:30:00.000": true, "2026-12-24 00:30:00.000": false, // a closure overrides the night before
		"2026-12-26 01:00:00.000": false, // ... and no night extends past it
		"2026-11-16 10:00:00.000": false, // holiday
	} {
		if on := h.open(seoul(at)); on != want {
			t.Errorf("%s: got open %v, want %v", at, on, want)
		}
	}
}

// TestReferenceClockChanges: clocks in New York go from 2:00 to 3:00 on 8 March
// 2026 and from 2:00 to 1:00 on 1 November.
func TestReferenceClockChanges(t *testing.T) {
	t.Parallel()
	ny := func(day, from, to string) refHours {
		return refHours{Timezone: "America/New_York", Week: map[string][][2]string{day: {{from, to}}}}
	}
	for _, c := range []struct {
		name  string
		hours refHours
		opens string // UTC
		lasts time.Duration
	}{
		{"a night that loses an hour", ny("sat", "22:00", "06:00"), "2026-03-08T03:00:00Z", 7 * time.Hour},
		{"a night that gains one", ny("sat", "22:00", "06:00"), "2026-11-01T02:00:00Z", 9 * time.Hour},
		{"a start that is skipped", ny("sun", "02:30", "05:00"), "2026-03-08T07:30:00Z", 90 * time.Minute},
		{"a start that comes twice", ny("sun", "01:30", "03:00"), "2026-11-01T05:30:00Z", 150 * time.Minute},
		{"an end that comes twice", ny("sun", "00:00", "01:30"), "2026-11-01T04:00:00Z", 90 * time.Minute},
		{"the day after", ny("mon", "09:00", "18:00"), "2026-03-09T13:00:00Z", 9 * time.Hour},
	} {
		from := must.Get(time.Parse(time.RFC3339, c.opens))(t)
		to := from.Add(c.lasts)
		for at, want := range map[time.Time]bool{from.Add(-time.Millisecond): false, from: true, to.Add(-time.Millisecond): true, to: false} {
			if got := c.hours.open(at.UnixMilli()); got != want {
				t.Errorf("%s, at %s: got open %v, want %v", c.name, at.Format(time.RFC3339Nano), got, want)
			}
		}
	}
	if swallowed := ny("sun", "02:30", "03:10"); swallowed.open(time.Date(2026, 3, 8, 7, 5, 0, 0, time.UTC).UnixMilli()) {
		t.Error("open at 03:05 by hours that the change has swallowed")
	}
}

// TestScheduleNights: schedules of a night in which clocks change, and of a night that runs into the next day's
// hours, equal the reference exactly.
func TestScheduleNights(t *testing.T) {
	t.Parallel()
	there := must.Get(time.LoadLocation("America/New_York"))(t)
	interval := func(from, to string) any {
		clocks := func(at string) string { return must.Get(time.Parse(time.RFC3339, at))(t).In(there).Format(clockForm) }
		return fields{"start": clocks(from), "end": clocks(to), "startsAt": from, "endsAt": to}
	}
	saturday := func(intervals ...any) []any {
		return []any{fields{"date": "2026-03-07", "weekday": "sat", "open": true, "intervals": intervals}}
	}
	h := refHours{Timezone: "America/New_York", Week: map[string][][2]string{"sat": {{"22:00", "06:00"}}, "sun": {{"05:00", "09:00"}, {"09:00", "10:00"}}}}
	sent := time.Date(2026, 3, 7, 17, 0, 0, 0, time.UTC).UnixMilli()
	for name, c := range map[string]struct {
		days []any
		want string // "" or part of the finding
	}{
		"right":              {saturday(interval("2026-03-08T03:00:00Z", "2026-03-08T13:00:00Z")), ""},
		"an hour too long":   {saturday(interval("2026-03-08T03:00:00Z", "2026-03-08T14:00:00Z")), "the hours say"},
		"cut at its own end": {saturday(interval("2026-03-08T03:00:00Z", "2026-03-08T10:00:00Z")), "the hours say"},
		"by the old offset":  {saturday(interval("2026-03-08T02:00:00Z", "2026-03-08T13:00:00Z")), "the hours say"},
		"not open":           {[]any{fields{"date": "2026-03-07", "weekday": "sat", "open": false, "intervals": []any{}}}, "open: false, but the hours have 1 run"},
	} {
		raw := must.Get(json.Marshal(c.days))(t)
		var shown []scheduleDay
		must.OK(t, json.Unmarshal(raw, &shown))
		got := h.shows(&call{Event: &history.Event{At: sent}, CallText: history.CallText{SentAt: sent, Query: "days=1", Out: fields{"timezone": h.Timezone}}}, shown)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// The night before a schedule's first day isn't in it and takes none of its hours.
func TestScheduleBeginsWithItsOwnHours(t *testing.T) {
	t.Parallel()
	utc := refHours{Timezone: "UTC", Week: map[string][][2]string{"mon": {{"22:00", "02:00"}}, "tue": {{"01:00", "05:00"}}}}
	tuesday := time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC)
	want := []run{{tuesday.Add(time.Hour).UnixMilli(), tuesday.Add(5 * time.Hour).UnixMilli()}}
	if got := utc.between([]scheduleDay{{Date: "2026-11-24"}}, time.UTC); !slices.Equal(got, want) {
		t.Errorf("read on Tuesday: got %s, want %s", runsText(got, time.UTC), runsText(want, time.UTC))
	}
}

// The intervals of a day may be in any order.
func TestReferenceHoursInAnyOrder(t *testing.T) {
	t.Parallel()
	seoul, days := must.Get(time.LoadLocation("Asia/Seoul"))(t), []scheduleDay{{Date: "2026-11-23"}}
	sorted := refHours{Timezone: "Asia/Seoul", Week: map[string][][2]string{"mon": {{"09:00", "20:00"}, {"20:00", "02:00"}}}}
	other := refHours{Timezone: "Asia/Seoul", Week: map[string][][2]string{"mon": {{"20:00", "02:00"}, {"09:00", "20:00"}}}}
	if got, want := other.between(days, seoul), sorted.between(days, seoul); len(want) != 2 || !slices.Equal(got, want) {
		t.Errorf("got %s, want %s", runsText(got, seoul), runsText(want, seoul))
	}
}

func TestReferenceWindows(t *testing.T) {
	t.Parallel()
	h := refHours{Timezone: "Asia/Seoul", Week: map[string][][2]string{"mon": {{"09:00", "18:00"}}}}
	noon, night := seoul("2026-11-23 12:00:00.000"), seoul("2026-11-23 20:00:00.000")
	all := []refWindow{
		{ID: "1", DoorID: "d", Ref: "always", Mode: "closed", CreatedAt: 9},
		{ID: "2", DoorID: "d", Ref: "business_hours", Mode: "free", CreatedAt: 1},
		{ID: "3", DoorID: "d", Ref: "custom", Mode: "auth", StartsAt: night, EndsAt: night + 1, CreatedAt: 0},
		{ID: "4", DoorID: "other", Ref: "custom", Mode: "closed"},
	}
	for _, c := range []struct {
		door string
		at   int64
		want string
	}{{"d", noon, "free"}, {"d", night - 1, "closed"}, {"d", night, "auth"}, {"d", night + 1, "closed"}, {"other", noon, "closed"}, {"third", noon, "auth"}} {
		if got, ok := modeAt(all, h, c.door, c.at); got != c.want || !ok {
			t.Errorf("%s at %d: got %s, want %s", c.door, c.at, got, c.want)
		}
	}
}

// The last night of a leap year, far enough ahead that the zone has a rule instead of a list of changes.
func TestReferenceOnTheLastDayOfALeapYear(t *testing.T) {
	t.Parallel()
	h := refHours{Timezone: "Europe/Berlin", Week: map[string][][2]string{"mon": {{"22:00", "06:00"}}}} // 31 December 2040
	for at, want := range map[string]bool{"2040-12-31T20:59:59Z": false, "2040-12-31T21:00:00Z": true, "2041-01-01T04:59:59Z": true, "2041-01-01T05:00:00Z": false} {
		m, err := time.Parse(time.RFC3339, at)
		if got := h.open(m.UnixMilli()); err != nil || got != want {
			t.Errorf("%s: open %v, want %v (%v)", at, got, want, err)
		}
	}
}

// TestWallTimes: a text is what clocks show at the instant, in every night; only a time that is skipped may stand for another.
func TestWallTimes(t *testing.T) {
	t.Parallel()
	berlin := must.Get(time.LoadLocation("Europe/Berlin"))(t)
	for _, c := range []struct {
		text string
		at   time.Time
		want bool
	}{
		{"09:00", time.Date(2026, 10, 25, 9, 0, 0, 0, berlin), true},
		{"09:00", time.Date(2026, 10, 25, 10, 0, 0, 0, berlin), false}, // an hour is gained, none skipped
		{"02:30", time.Date(2026, 3, 29, 3, 30, 0, 0, berlin), true},   // skipped
		{"04:30", time.Date(2026, 3, 29, 3, 30, 0, 0, berlin), false},
		{"24:00", time.Date(2026, 3, 30, 0, 0, 0, 0, berlin), true},
		{"later", time.Date(2026, 3, 30, 0, 0, 0, 0, berlin), false},
	} {
		if got := wallTime(c.text, c.at); got != c.want {
			t.Errorf("%s at %s: got %v, want %v", c.text, c.at, got, c.want)
		}
	}
}
