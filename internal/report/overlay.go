package report

import (
	"slices"
	"time"

	"github.com/doorlab/doorlab/internal/plot"
)

// drawn is what the page shows of a history; for shards' histories, nothing else is kept.
type drawn struct {
	from            time.Time
	seconds         float64
	tracks          []plot.Chart
	latencies, lags []float64
	kinds           map[string]int
}

func draw(res Result) drawn {
	c := newCourse(res)
	d := drawn{from: c.from, seconds: c.seconds(), tracks: c.charts(res), latencies: c.latencies(), lags: c.syncLags(), kinds: map[string]int{}}
	for i := range res.Events {
		d.kinds[res.Events[i].Kind]++
	}
	return d
}

// trackOrder is that of the tracks, top to bottom.
var trackOrder = []string{"load", "openings", "faults-armed", "hits", "boards", "scenarios-played"}

// overlay adds up the shards' courses, aligned by the machines' time.
func overlay(res Result) drawn {
	c := newCourse(res)
	all := drawn{kinds: map[string]int{}}
	for _, d := range res.drawn {
		if end := d.from.Add(time.Duration(d.seconds * float64(time.Second))); end.After(c.to) {
			c.to = end
		}
		all.latencies, all.lags = append(all.latencies, d.latencies...), append(all.lags, d.lags...)
		for k, n := range d.kinds {
			all.kinds[k] += n
		}
	}
	all.from, all.seconds, all.tracks = c.from, c.seconds(), c.charts(res) // from the files: faults and scenarios
	for _, d := range res.drawn {
		for _, t := range d.tracks {
			if len(t.Lines) > 0 {
				all.add(t, d)
			}
		}
	}
	slices.SortStableFunc(all.tracks, func(a, b plot.Chart) int { return slices.Index(trackOrder, a.ID) - slices.Index(trackOrder, b.ID) })
	return all
}

// add adds a track of a shard's course.
func (all *drawn) add(t plot.Chart, d drawn) {
	i := slices.IndexFunc(all.tracks, func(x plot.Chart) bool { return x.ID == t.ID })
	if i < 0 {
		i = len(all.tracks)
		all.tracks = append(all.tracks, plot.Chart{ID: t.ID, Title: t.Title, Unit: t.Unit, Low: t.Low, To: all.seconds, X: plot.Seconds(all.seconds)})
	}
	to, each := &all.tracks[i], all.seconds/bins
	for _, l := range t.Lines {
		k := slices.IndexFunc(to.Lines, func(x plot.Line) bool { return x.Name == l.Name })
		if k < 0 {
			k = len(to.Lines)
			to.Lines = append(to.Lines, plot.Line{Name: l.Name, Color: l.Color, Area: l.Area})
			for bin := range bins {
				to.Lines[k].Points = append(to.Lines[k].Points, plot.Point{X: (float64(bin) + .5) * each})
			}
		}
		wide, begin := d.seconds/bins, d.from.Sub(all.from).Seconds()
		for j, p := range l.Points { // distribute a point over the bins that it covers; a line may end before its shard
			from, until := begin+float64(j)*wide, begin+float64(j+1)*wide
			for bin := max(int(from/each), 0); bin < bins && float64(bin)*each < until; bin++ {
				over := min(until, float64(bin+1)*each) - max(from, float64(bin)*each)
				to.Lines[k].Points[bin].Y += p.Y * over / each
			}
		}
	}
}
