package world

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/near"
)

var weekdays = []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}

func resolveHours(c *checker, at string, p *Place) {
	if p.Hours == nil {
		p.Hours = access.Week{}
	}
	for _, d := range weekdays {
		if p.Hours[d] == nil {
			p.Hours[d] = [][2]string{}
		}
	}
	for _, d := range slices.Sorted(maps.Keys(p.Hours)) {
		if !access.IsWeekday(d) {
			meant := strings.ToLower(d) // Tuesday is tue
			if i := slices.IndexFunc(weekdays, func(w string) bool { return strings.HasPrefix(meant, w) }); i >= 0 {
				meant = weekdays[i]
			}
			c.add(at+".hours."+d, fmt.Sprintf("%q is not a day (mon..sun)%s", d, near.Hint(meant, weekdays)))
		} else if err := access.CheckDay(p.Hours[d]); err != nil {
			c.add(at+".hours."+d, err.Error())
		}
	}
}

func checkDays(c *checker, at string, p *Place) {
	for j, cl := range p.Closures {
		cat := fmt.Sprintf("%s.closures[%d]", at, j)
		if from, to := c.date(cat+".from", cl.From), c.date(cat+".to", cl.To); from && to && cl.To < cl.From {
			c.add(cat+".to", cl.To+" is before from")
		}
		c.name(cat+".name", cl.Name)
	}
	for j, h := range p.Holidays {
		switch date := fmt.Sprintf("%s.holidays[%d].date", at, j); {
		case !c.date(date, h.Date):
		case slices.ContainsFunc(p.Holidays[:j], func(x access.Holiday) bool { return x.Date == h.Date }):
			c.add(date, h.Date+" is a holiday already: each date once")
		}
		if err := access.CheckDay(h.Intervals); err != nil {
			c.add(fmt.Sprintf("%s.holidays[%d].intervals", at, j), err.Error())
		}
		c.name(fmt.Sprintf("%s.holidays[%d].name", at, j), h.Name)
	}
}

func (c *checker) date(field, date string) bool {
	ok := access.IsDate(date)
	if !ok {
		c.add(field, fmt.Sprintf("%q is not a date, write it like 2026-10-09", date))
	}
	return ok
}
