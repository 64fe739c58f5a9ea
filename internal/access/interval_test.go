package access

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/must"
)

// The interval model doesn't use instants or offsets. It walks through two years of UTC minutes, reads the wall clock
// at each, and marks the minutes in which the place is open. It knows whole minutes only, and assumes that offsets
// change in half-hour steps, as they have everywhere since 1972.

const (
	modelDays  = 731 // 2026 and 2027, plus a day
	modelSlack = 3   // extra days before and after, so that every night is complete
)

var modelFirst = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// wallWalk is one zone over two years.
type wallWalk struct {
	start int64   // UTC minute of index 0
	wall  []int64 // wall time at each minute, in minutes since the epoch as if UTC
	first []int32 // minute at which the wall shows a time first, by wall time from start - 1 day; -1 = never
}

func walkZone(t *testing.T, zone string) *wallWalk {
	loc := must.Get(time.LoadLocation(zone))(t)
	w := &wallWalk{start: modelFirst.AddDate(0, 0, -modelSlack).Unix() / 60}
	w.wall = make([]int64, (modelDays+2*modelSlack)*24*60)
	w.first = slices.Repeat([]int32{-1}, len(w.wall)+2*24*60)
	for i := 0; i < len(w.wall); i += 30 {
		at := time.Unix((w.start+int64(i))*60, 0).In(loc)
		reads := time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), 0, 0, time.UTC).Unix() / 60
		for j := range 30 {
			w.wall[i+j] = reads + int64(j)
			if first := &w.first[w.wall[i+j]-w.start+24*60]; *first < 0 {
				*first = int32(i + j)
			}
		}
	}
	return w
}

// when returns the first minute at which the wall clock shows a time. A skipped time maps to the same distance after
// the jump.
func (w *wallWalk) when(wall int64) int {
	for back := range int64(24 * 60) {
		if i := w.first[wall-back-w.start+24*60]; i >= 0 {
			return int(i) + int(back)
		}
	}
	panic("a day without a minute")
}

// open marks the open minutes of the two years.
func (w *wallWalk) open(h Hours) []bool {
	out := make([]bool, len(w.wall))
	for d := -modelSlack + 1; d < modelDays+modelSlack-2; d++ {
		day := modelFirst.AddDate(0, 0, d)
		if w.shut(h, day) {
			continue
		}
		pairs := h.Week[[]string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}[day.Weekday()]]
		for _, x := range h.Holidays {
			if x.Date == day.Format("2006-01-02") {
				pairs = x.Intervals
			}
		}
		for _, p := range pairs {
			var fh, fm, th, tm int64
			_, _ = fmt.Sscanf(p[0]+" "+p[1], "%d:%d %d:%d", &fh, &fm, &th, &tm)
			from, to := day.Unix()/60+fh*60+fm, day.Unix()/60+th*60+tm
			if to <= from {
				to += 24 * 60
			}
			for i := w.when(from); i < w.when(to); i++ {
				out[i] = true
			}
		}
	}
	shut := map[int64]bool{}
	for d := -modelSlack - 1; d < modelDays+modelSlack+1; d++ {
		day := modelFirst.AddDate(0, 0, d)
		shut[day.Unix()/86400] = w.shut(h, day)
	}
	for i, wall := range w.wall { // a closure overrides everything
		out[i] = out[i] && !shut[wall/(24*60)]
	}
	return out
}

func (w *wallWalk) shut(h Hours, day time.Time) bool {
	for _, c := range h.Closures {
		if d := day.Format("2006-01-02"); d >= c.From && d <= c.To {
			return true
		}
	}
	return false
}

// index is the minute of an instant, counted from the start.
func (w *wallWalk) index(at time.Time) int { return int(at.Unix()/60 - w.start) }

// TestScheduleAgainstIntervalModel compares the schedule, openAt and the windows that follow the hours with the
// model, minute by minute over two years, in zones whose clocks change at 1:00, 2:00, 3:00 or midnight, by half an
// hour, or never [HRS-1] [HRS-2].
func TestScheduleAgainstIntervalModel(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{"Asia/Seoul", "America/New_York", "Europe/London", "Australia/Lord_Howe", "America/Santiago", "Africa/Cairo", "America/Havana", "Asia/Kathmandu"} {
		t.Run(zone, func(t *testing.T) {
			t.Parallel()
			w := walkZone(t, zone)
			r := rand.New(rand.NewPCG(7, uint64(len(zone))))
			for range 4 {
				h := drawHours(r, zone)
				w.check(t, h, r)
			}
		})
	}
}

func (w *wallWalk) check(t *testing.T, h Hours, r *rand.Rand) {
	t.Helper()
	model := w.open(h)
	days := h.Schedule(modelFirst.AddDate(0, 0, -1), modelDays+1) // including intervals that run into the first day
	got := make([]bool, len(model))
	var edges []int
	last := time.Time{}
	for _, d := range days {
		for _, iv := range d.Intervals {
			from, to := w.index(iv.From), w.index(iv.To)
			if iv.From.Before(last) || !iv.From.Before(iv.To) {
				t.Fatalf("%s: %+v begins before %s or is empty, want neither", d.Date, iv, last)
			}
			if on := time.Unix(w.wall[from]*60, 0).UTC().Format("2006-01-02"); on != d.Date && iv.Start < "22" { // a start that is skipped at midnight belongs to the next day
				t.Fatalf("%s: %+v starts on %s, want it on its own day", d.Date, iv, on)
			}
			last = iv.To
			edges = append(edges, from, to)
			for i := from; i < to; i++ {
				got[i] = true
			}
		}
	}
	lo, hi := w.index(days[1].at(h)), w.index(days[modelDays].at(h))
	for i := lo; i < hi; i++ {
		if got[i] != model[i] {
			t.Fatalf("%s is open: schedule %v, model %v, want the same; %+v", time.Unix((w.start+int64(i))*60, 0).UTC(), got[i], model[i], h)
		}
	}
	w.sample(t, h, model, edges, r, lo, hi)
	w.slices(t, h, days, r)
}

// at is the first instant of a day.
func (d Day) at(h Hours) time.Time { return wall(zone(h.Timezone), day(d.Date), 0) }

// sample compares openAt and the windows with the model at edges, a millisecond before and after them, and at random
// times.
func (w *wallWalk) sample(t *testing.T, h Hours, model []bool, edges []int, r *rand.Rand, lo, hi int) {
	t.Helper()
	ask := func(i int, off time.Duration) {
		if i <= lo || i >= hi {
			return
		}
		at := time.Unix((w.start+int64(i))*60, 0).Add(off)
		want := model[i]
		if off < 0 {
			want = model[i-1]
		}
		if h.openAt(at) != want || (Window{Ref: RefBusiness}).active(h, at) != want || (Window{Ref: RefAfter}).active(h, at) == want {
			t.Fatalf("%s: open %v, model %v; %+v", at.UTC(), h.openAt(at), want, h)
		}
	}
	for range 150 {
		if len(edges) > 0 {
			i := edges[r.IntN(len(edges))]
			ask(i, -time.Millisecond)
			ask(i, 0)
			ask(i, time.Minute-time.Millisecond)
		}
		ask(lo+r.IntN(hi-lo), 0)
	}
}

// slices: a shorter schedule contains the same days, wherever it begins and ends.
func (w *wallWalk) slices(t *testing.T, h Hours, days []Day, r *rand.Rand) {
	t.Helper()
	for range 12 {
		from, n := r.IntN(modelDays-70), 1+r.IntN(60)
		list := h.Schedule(day(days[from].Date), n)
		if d := list[0]; d.Open != (len(d.Intervals) > 0) {
			t.Fatalf("a schedule begins with %s, want a day that is open exactly if it has intervals", show(list[:1]))
		}
		if own := h.intervals(day(days[from].Date)); len(own) > 0 && own[0].From.Before(days[from].at(h).Add(12*time.Hour)) {
			list, from, n = list[1:], from+1, n-1 // the night before may have taken the day's hours in the longer schedule
		}
		if got, want := show(list), show(days[from:from+n]); got != want {
			t.Fatalf("%d days from %s end %s, in two years they end %s", n, days[from].Date, got[max(0, len(got)-200):], want[max(0, len(want)-200):])
		}
	}
}

// drawHours draws a week, closures and holidays, many of them around nights when the clocks change.
func drawHours(r *rand.Rand, zone string) Hours {
	h := Hours{Timezone: zone, Week: Week{}}
	intervals := func() (out [][2]string) {
		at := r.IntN(600)
		if r.IntN(3) == 0 {
			at = r.IntN(4) * 30 // running into the night
		}
		for range r.IntN(4) {
			to := at + 1 + r.IntN(1000)
			if at >= 24*60 || to >= at+24*60 {
				break
			}
			p := [2]string{fmt.Sprintf("%02d:%02d", at/60, at%60), fmt.Sprintf("%02d:%02d", to%1440/60, to%60)}
			if to == 1440 {
				p[1] = "24:00"
			}
			out = append(out, p)
			at = to + r.IntN(120)
		}
		if CheckDay(out) != nil {
			return [][2]string{{"22:00", "06:00"}}
		}
		return out
	}
	for _, d := range weekdays {
		h.Week[d] = intervals()
	}
	if r.IntN(2) == 0 {
		h.Week["sat"], h.Week["sun"] = [][2]string{{"23:30", "05:00"}}, [][2]string{{"00:15", "01:05"}, {"02:15", "03:05"}, {"23:00", "24:00"}}
	}
	changes := []string{"2026-03-08", "2026-11-01", "2027-03-14", "2027-11-07", "2026-03-29", "2026-10-25", "2026-04-05", "2026-10-04", "2026-09-06", "2026-04-24", "2026-10-30"}
	for range 8 {
		on := modelFirst.AddDate(0, 0, r.IntN(modelDays))
		if r.IntN(2) == 0 {
			on = day(changes[r.IntN(len(changes))]).AddDate(0, 0, r.IntN(3)-1)
		}
		if slices.ContainsFunc(h.Holidays, func(x Holiday) bool { return x.Date == on.Format(dateForm) }) {
			continue
		}
		switch r.IntN(3) {
		case 0:
			h.Closures = append(h.Closures, Closure{From: on.Format(dateForm), To: on.AddDate(0, 0, r.IntN(4)).Format(dateForm)})
		case 1:
			h.Holidays = append(h.Holidays, Holiday{Date: on.Format(dateForm)})
		default:
			h.Holidays = append(h.Holidays, Holiday{Date: on.Format(dateForm), Intervals: intervals()})
		}
	}
	return h
}
