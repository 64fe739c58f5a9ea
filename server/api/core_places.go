package api

import (
	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/server/place"
)

type hours struct {
	Week access.Week `json:"week"`
}

type placeView struct {
	PlaceID  string `json:"placeId"`
	Name     string `json:"name"`
	Timezone string `json:"timezone"`
	Hours    hours  `json:"hours"`
}

var weekdays = []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}

// updatePlace replaces the given days [HRS-1].
func updatePlace(c *call) (any, error) {
	p, err := c.api.cfg.Places.SetHours(c.who.PlaceID, week(c.body.obj("hours").obj("week")))
	if err != nil {
		return nil, err
	}
	return placeView{PlaceID: p.ID, Name: p.Name, Timezone: p.Timezone, Hours: hours{Week: wholeWeek(p.Week)}}, nil
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

type schedule struct {
	PlaceID  string        `json:"placeId"`
	Timezone string        `json:"timezone"`
	Days     []scheduleDay `json:"days"`
}

type scheduleDay struct {
	Date      string     `json:"date"`
	Weekday   string     `json:"weekday"`
	Open      bool       `json:"open"`
	Intervals []interval `json:"intervals"`
	Note      *note      `json:"note"`
}

type interval struct {
	Start    string `json:"start"`
	End      string `json:"end"`
	StartsAt stamp  `json:"startsAt"`
	EndsAt   stamp  `json:"endsAt"`
}

type note struct {
	Type string `json:"type"`
	Name string `json:"name"`
}

// getSchedule shows when the place really opens [HRS-2].
func getSchedule(c *call) (any, error) {
	s, err := c.api.cfg.Places.Schedule(c.path("placeId"), c.query.num("days"))
	if err != nil {
		return nil, err
	}
	return schedule{PlaceID: s.PlaceID, Timezone: s.Timezone, Days: each(s.Days, dayView)}, nil
}

func dayView(d access.Day) scheduleDay {
	out := scheduleDay{Date: d.Date, Weekday: d.Weekday, Open: d.Open, Intervals: each(d.Intervals, func(i access.Interval) interval {
		return interval{Start: i.Start, End: i.End, StartsAt: stamp(i.From), EndsAt: stamp(i.To)}
	})}
	if d.Note != nil {
		out.Note = &note{Type: d.Note.Type, Name: d.Note.Name}
	}
	return out
}
