package api

import (
	"github.com/doorlab/doorlab/internal/access"
	gen "github.com/doorlab/doorlab/server/api/gen/core"
	"github.com/doorlab/doorlab/server/api/stamp"
	"github.com/doorlab/doorlab/server/place"
)

var weekdays = []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}

// updatePlace replaces the given days [HRS-1].
func updatePlace(c *call) (any, error) {
	p, err := c.api.cfg.Places.SetHours(c.who.PlaceID, week(c.body.obj("hours").obj("week")))
	if err != nil {
		return nil, err
	}
	return gen.Place{PlaceID: p.ID, Name: p.Name, Timezone: p.Timezone, Hours: gen.Hours{Week: wholeWeek(p.Week)}}, nil
}

// week reads a checked week; nil for none.
func week(o object) place.Week {
	if o == nil {
		return nil
	}
	w := place.Week{}
	for day, v := range o {
		pairs := [][]string{}
		l, _ := v.([]any)
		for _, p := range l {
			pairs = append(pairs, object{"p": p}.texts("p"))
		}
		w[day] = pairs
	}
	return w
}

// wholeWeek names every day: a day without hours is closed.
func wholeWeek(w access.Week) access.Week {
	out := access.Week{}
	for _, day := range weekdays {
		out[day] = append([][2]string{}, w[day]...)
	}
	return out
}

// getSchedule shows when the place really opens [HRS-2].
func getSchedule(c *call) (any, error) {
	s, err := c.api.cfg.Places.Schedule(c.path("placeId"), c.query.num("days"))
	if err != nil {
		return nil, err
	}
	return gen.Schedule{PlaceID: s.PlaceID, Timezone: s.Timezone, Days: each(s.Days, dayView)}, nil
}

func dayView(d access.Day) gen.ScheduleDay {
	out := gen.ScheduleDay{Date: d.Date, Weekday: d.Weekday, Open: d.Open, Intervals: each(d.Intervals, func(i access.Interval) gen.Interval {
		return gen.Interval{Start: i.Start, End: i.End, StartsAt: stamp.Time(i.From), EndsAt: stamp.Time(i.To)}
	})}
	if d.Note != nil {
		out.Note = &gen.Note{Type: d.Note.Type, Name: d.Note.Name}
	}
	return out
}
