package report

import (
	"slices"
	"sort"
	"time"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/plot"
)

// limit is how long a board may decide on its own.
const limit = 36 * time.Hour

// Fleet follows the boards of one world through its history.
type Fleet struct {
	boards  map[string]*boardState
	desired map[string]int64 // latest revision, by place
}

type boardState struct {
	place  string
	online bool
	since  int64 // domain time at which it came or went
	epoch  int64
	rev    int64 // the latest acknowledged
	has    int64 // what it has now: a wiped board starts over
}

// NewFleet is a fleet without boards so far.
func NewFleet() *Fleet {
	return &Fleet{boards: map[string]*boardState{}, desired: map[string]int64{}}
}

func (f *Fleet) board(e *history.Event) *boardState {
	b := each.Made(f.boards, e.BoardID, func() *boardState { return &boardState{} })
	if e.PlaceID != "" {
		b.place = e.PlaceID
	}
	return b
}

// Count is how many boards are connected, how many are offline, and how many are connected but lack their place's latest
// revision.
func (f *Fleet) Count() (online, away, behind int) {
	for _, b := range f.boards {
		switch {
		case !b.online:
			away++
		case b.has < f.desired[b.place]:
			behind++
			fallthrough
		default:
			online++
		}
	}
	return online, away, behind
}

// standing adds to how many boards are connected at a time, offline, and offline for longer than the limit.
func (f *Fleet) standing(now int64, online, away, stopped *int) {
	for _, b := range f.boards {
		switch {
		case b.online:
			*online++
		case time.Duration(now-b.since)*time.Millisecond > limit:
			*stopped++
		default:
			*away++
		}
	}
}

// See processes an event.
func (f *Fleet) See(e *history.Event) {
	switch e.Kind {
	case history.Door:
		if b := f.board(e); b.since == 0 {
			b.since = e.At
		}
	case history.Committed:
		f.desired[e.PlaceID] = max(f.desired[e.PlaceID], e.Revision)
	case history.Applied:
		b := f.board(e)
		b.rev, b.has = max(b.rev, e.Revision), e.Revision
	case history.Online:
		b := f.board(e)
		b.online, b.since, b.epoch, b.has = true, e.At, e.Epoch, e.Revision
	case history.Offline:
		if b := f.board(e); b.epoch == e.Epoch { // else a newer connection exists already
			b.online, b.since = false, e.At
		}
	}
}

// boards shows how many boards are connected, offline, and offline for more than 36 h, over time.
func (c *course) boards() plot.Chart {
	var online, away, stopped [bins]int
	last := 0 // after the end of a world, nothing is known about its boards
	each := c.seconds() / bins
	for _, world := range worlds(c.events) {
		f, next := NewFleet(), 0
		var now int64
		fill := func(to int) {
			for ; next < to; next++ {
				f.standing(now, &online[next], &away[next], &stopped[next])
			}
		}
		for i := range world {
			e := &world[i]
			x, ok := c.x(e)
			if ok && e.WallNs != 0 {
				fill(min(int(x/each), bins))
			}
			now = max(now, e.At)
			f.See(e)
		}
		if next > 0 {
			fill(min(next+1, bins)) // a world ends with its file
			last = max(last, next)
		}
	}
	out := c.chart("boards", "Boards", "connected, as the server sees it")
	line := func(name string, color int, counts [bins]int) {
		l, any := plot.Line{Name: name, Color: color}, false
		for i, n := range counts[:last] {
			any = any || n > 0
			l.Points = append(l.Points, plot.Point{X: (float64(i) + .5) * each, Y: float64(n)})
		}
		if any {
			out.Lines = append(out.Lines, l)
		}
	}
	line("connected", 2, online)
	line("offline", 4, away)
	line("offline over 36 h", 3, stopped)
	return out
}

// syncLags are, in milliseconds of domain time, how long after its commit, or after the board came back, each revision
// was acknowledged: what SYNC-1 and SYNC-2 limit, over all boards.
func (c *course) syncLags() (out []float64) {
	for _, world := range worlds(c.events) {
		f := NewFleet()
		commits := map[string][]commit{} // by place, in the order of their revisions
		for i := range world {
			e := &world[i]
			switch e.Kind {
			case history.Committed:
				list := commits[e.PlaceID]
				commits[e.PlaceID] = slices.Insert(list, upTo(list, e.Revision), commit{e.Revision, e.At})
			case history.Applied:
				b, list := f.board(e), commits[e.PlaceID]
				for i := upTo(list, b.rev); i < len(list) && list[i].rev <= e.Revision && b.online; i++ {
					out = append(out, max(float64(e.At-max(list[i].at, b.since)), 0))
				}
			}
			f.See(e)
		}
	}
	return out
}

// commit is when a revision was committed, in domain time. A history may begin at any revision, and one that was changed
// may have any number, so only those that it has are gone through.
type commit struct{ rev, at int64 }

// upTo is how many commits of a list go up to a revision, all those with that revision included: an import has one
// commit per row, and they share its revision.
func upTo(list []commit, rev int64) int {
	return sort.Search(len(list), func(i int) bool { return list[i].rev > rev })
}
