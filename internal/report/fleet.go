package report

import (
	"time"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/plot"
)

// limit is how long a board decides on its own.
const limit = 36 * time.Hour

// fleet follows the boards of one world through its history.
type fleet struct {
	boards map[string]*boardState
}

type boardState struct {
	online bool
	since  int64 // domain time at which it came or went
	epoch  int64
	rev    int64 // acknowledged
}

func (f *fleet) board(id string) *boardState {
	b := f.boards[id]
	if b == nil {
		b = &boardState{}
		f.boards[id] = b
	}
	return b
}

// see takes in an event; true when a board came or went.
func (f *fleet) see(e *history.Event) bool {
	switch e.Kind {
	case history.Online:
		b := f.board(e.BoardID)
		b.online, b.since, b.epoch = true, e.At, e.Epoch
	case history.Offline:
		b := f.board(e.BoardID)
		if b.epoch != e.Epoch { // a newer connection is there already
			return false
		}
		b.online, b.since = false, e.At
	default:
		return false
	}
	return true
}

// boards are how many are connected, away, and away for more than 36 h, over time.
func (c *course) boards() plot.Chart {
	var online, away, stopped [bins]int
	each := c.seconds() / bins
	for _, world := range worlds(c.events) {
		f, next := fleet{boards: map[string]*boardState{}}, 0
		var now int64
		fill := func(to int) {
			for ; next < to; next++ {
				for _, b := range f.boards {
					switch {
					case b.online:
						online[next]++
					case time.Duration(now-b.since)*time.Millisecond > limit:
						stopped[next]++
					default:
						away[next]++
					}
				}
			}
		}
		for i := range world {
			e := &world[i]
			x, ok := c.x(e)
			if ok && e.WallNs != 0 {
				fill(min(int(x/each), bins))
			}
			now = max(now, e.At)
			f.see(e)
		}
		if next > 0 {
			fill(min(next+1, bins)) // a world ends with its file
		}
	}
	out := c.chart("boards", "Boards", "connected, as the server sees it")
	line := func(name string, color int, counts [bins]int) {
		l, any := plot.Line{Name: name, Color: color}, false
		for i, n := range counts {
			any = any || n > 0
			l.Points = append(l.Points, plot.Point{X: (float64(i) + .5) * each, Y: float64(n)})
		}
		if any {
			out.Lines = append(out.Lines, l)
		}
	}
	line("connected", 2, online)
	line("away", 4, away)
	line("away over 36 h", 3, stopped)
	return out
}

// syncLags are how long after its commit, or after the board came back, each
// revision was acknowledged, in milliseconds of domain time: what SYNC-1 and SYNC-2
// bound, over all boards.
func (c *course) syncLags() (out []float64) {
	for _, world := range worlds(c.events) {
		f := fleet{boards: map[string]*boardState{}}
		commits := map[string]map[int64]int64{} // place, revision: when
		for i := range world {
			e := &world[i]
			f.see(e)
			switch e.Kind {
			case history.Committed:
				if commits[e.PlaceID] == nil {
					commits[e.PlaceID] = map[int64]int64{}
				}
				commits[e.PlaceID][e.Revision] = e.At
			case history.Applied:
				b := f.board(e.BoardID)
				for rev := b.rev + 1; rev <= e.Revision; rev++ {
					if at, known := commits[e.PlaceID][rev]; known && b.online {
						out = append(out, max(float64(e.At-max(at, b.since)), 0))
					}
				}
				b.rev = max(b.rev, e.Revision)
			}
		}
	}
	return out
}
