package api

import (
	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/each"
	gen "github.com/doorlab/doorlab/server/api/gen/core"
	"github.com/doorlab/doorlab/server/api/stamp"
	"github.com/doorlab/doorlab/server/place"
)

var weekdays = []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}

// updatePlace replaces the given days, see HRS-1.
func updatePlace(c *call, b gen.UpdatePlaceBody) (any, error) {
	p, err := c.api.cfg.Places.SetHours(c.caller(), week(b.Hours.Week))
	return gen.Place{PlaceID: p.ID, Name: p.Name, Timezone: p.Timezone, Hours: gen.Hours{Week: wholeWeek(p.Week)}}, err
}

// week converts a week for the rules; nil stays nil.
func week(in access.Week) place.Week {
	if in == nil {
		return nil
	}
	out := place.Week{}
	for day, pairs := range in {
		out[day] = each.Of(pairs, func(p [2]string) []string { return p[:] })
	}
	return out
}

// wholeWeek names every day: a day without hours is closed.
func wholeWeek(w access.Week) access.Week {
	out := access.Week{}
	for _, day := range weekdays {
		out[day] = append([][2]string{}, w[day]...)
	}
	return out
}

// getSchedule shows when the place really opens, see HRS-2.
func getSchedule(c *call) (any, error) {
	s, err := c.api.cfg.Places.Schedule(c.path("placeId"), c.query.Num("days"))
	return gen.Schedule{PlaceID: s.PlaceID, Timezone: s.Timezone, Days: each.Of(s.Days, dayView)}, err
}

func dayView(d access.Day) gen.ScheduleDay {
	out := gen.ScheduleDay{Date: d.Date, Weekday: d.Weekday, Open: d.Open, Intervals: each.Of(d.Intervals, func(i access.Interval) gen.Interval {
		return gen.Interval{Start: i.Start, End: i.End, StartsAt: stamp.Time(i.From), EndsAt: stamp.Time(i.To)}
	})}
	if d.Note != nil {
		out.Note = &gen.Note{Type: d.Note.Type, Name: d.Note.Name}
	}
	return out
}
