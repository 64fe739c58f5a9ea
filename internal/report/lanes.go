package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
)

// The lanes of a breach's timeline, top to bottom. What the boards tell is in the last one.
var laneOf = map[string]int{
	history.Label: 0, history.Look: 0, history.Hand: 0, history.Begun: 0, history.World: 0,
	history.Attempt: 1, history.Answer: 1, history.Call: 1, history.Unanswered: 1,
	history.Started: 2, history.Committed: 2, history.Content: 2, history.Entries: 2, history.Intent: 2, history.Publish: 2, history.Received: 2,
	history.Online: 2, history.Offline: 2, history.Applied: 2, history.RecordIn: 2,
}

var laneNames = []string{"scenario", "client", "server", "board"}

// dot is one event in a lane.
type dot struct {
	X, Y  int
	Bad   bool
	Title string
	Kind  string
}

// drawing is an SVG of a timeline.
type drawing struct {
	Width, Height int
	Names         []string
	Ys            []int
	Dots          []dot
	Path          string
	From, To      string
}

// lanes draws a breach: who did what, in order. Distances are by rank, with the times beside them, because there may be
// a jump between two events.
func lanes(b *judge.Bad) drawing {
	const left, step, top, gap = 90, 62, 26, 58
	d := drawing{Names: laneNames, Height: top + gap*len(laneNames)}
	for i := range laneNames {
		d.Ys = append(d.Ys, top+i*gap)
	}
	events := b.Timeline
	if len(events) == 0 {
		events = []history.Event{b.Event}
	}
	var path strings.Builder
	for i, e := range events {
		lane, ok := laneOf[e.Kind]
		if !ok {
			lane = len(laneNames) - 1
		}
		p := dot{X: left + i*step, Y: d.Ys[lane], Bad: e.Seq == b.Event.Seq, Kind: e.Kind, Title: time.UnixMilli(e.At).UTC().Format("15:04:05.000") + " " + e.String()}
		op := "L"
		if i == 0 {
			op = "M"
		}
		fmt.Fprintf(&path, "%s%d %d", op, p.X, p.Y)
		d.Dots = append(d.Dots, p)
	}
	d.Path = path.String()
	d.Width = left + step*len(events)
	d.From = time.UnixMilli(events[0].At).UTC().Format("2006-01-02 15:04:05.000")
	d.To = time.UnixMilli(events[len(events)-1].At).UTC().Format("2006-01-02 15:04:05.000")
	return d
}
