package console

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/each"
)

type nowView struct {
	Health healthView
	Clock  clockView
	Jump   *jumpView
	Faults []armedFault
	Disk   diskView
	Feed   []feedRow
}

func (c *Console) now(r *http.Request) (any, error) {
	faults, err := c.armed(r)
	if err != nil {
		return nil, err
	}
	disk, err := c.disk(r)
	return nowView{Health: c.health(), Clock: c.clock(), Jump: c.jump.Load(), Faults: faults, Disk: disk, Feed: c.feedRows(keepRows)}, err
}

// healthView is the line of health.
type healthView struct {
	Boards, Online int64
	Bad            bool // some board is offline
	Lag            time.Duration
	LagBoard       string
	PerSecond      string
	P50, P99       string
	Run            *runRow
}

func (c *Console) health() (v healthView) {
	for _, b := range c.cfg.Boards() {
		v.Boards++
		if b.Online {
			v.Online++
		}
		if b.Behind > v.Lag {
			v.Lag, v.LagBoard = b.Behind, b.ID
		}
	}
	v.Bad = v.Online < v.Boards
	perSecond, p50, p99 := c.cfg.Feed.Rate()
	v.PerSecond, v.P50, v.P99 = fmt.Sprintf("%.1f", perSecond), span(p50), span(p99)
	if perSecond >= 100 {
		v.PerSecond = amount.Number(int64(perSecond))
	}
	if runs := c.runs(1); len(runs) > 0 {
		v.Run = &runs[0]
	}
	return v
}

// clockView is the clock with its buttons.
type clockView struct {
	Now     string
	Word    string // key of the text of its state
	Virtual bool
	Frozen  bool
	Steps   []step
	Marks   []string
}

// step is a button of the clock: how far, as the control API and as people say it.
type step struct{ By, Name string } // Name is the key of its words

var steps = []step{{"5m", "clock.5m"}, {"1h", "clock.1h"}, {"36h", "clock.36h"}}

const timeFormat = "2006-01-02 15:04:05"

func (c *Console) clock() clockView {
	v := clockView{Now: c.cfg.Clock.Now().UTC().Format(timeFormat), Word: "clock.ready", Steps: steps, Marks: c.marks.names()}
	virtual, ok := c.cfg.Clock.(*clock.Virtual)
	if v.Virtual = ok; ok {
		switch virtual.State() {
		case clock.Frozen:
			v.Word, v.Frozen = "clock.frozen", true
		case clock.Advancing:
			v.Word = "clock.jumping"
		}
	}
	return v
}

// feedRow is one line of the feed: a command or a visit.
type feedRow struct {
	At           time.Time
	Time, Exact  string
	Place, Door  string
	BoardID      string
	Who          string // text, or key of a text
	What         string // key
	Way          string // key: how a command came in
	Minutes      int
	Outcome      string // key
	Class, Sign  string
	Took, Detail string
	ID           string // of a command
	PlaceID      string // of a visit
	Why          string // address of the page that explains it; "" = none
}

// keepRows is how many lines the feed shows.
const keepRows = 40

// outcomes are the classes and signs of what came of commands and visits.
var outcomes = map[string]struct{ class, sign string }{
	"":         {"wait", "…"},
	"reported": {"ok", "✓"}, "offline": {"bad", "✕"}, "refused": {"bad", "✕"}, "noResponse": {"wait", "?"},
	"opened": {"ok", "✓"}, "denied": {"bad", "✕"},
}

// visitRow is a person who came to a reader, or whose call or link was refused.
func (c *Console) visitRow(x visit) feedRow {
	o, d := outcomes[x.Result], c.names.doors[x.DoorID]
	row := feedRow{At: x.At, Door: c.names.door(x.DoorID), BoardID: cmp.Or(x.BoardID, d.BoardID), Who: x.Who, What: x.What, Way: x.Way, Outcome: "outcome." + x.Result,
		Class: o.class, Sign: o.sign, Detail: x.Reason}
	if d.Place != nil {
		x.PlaceID = d.Place.ID
	}
	row.Place, row.PlaceID = c.names.place(x.PlaceID), x.PlaceID
	row.Why = whyPage(x.PlaceID, x.DoorID, x.GrantID, x.Line)
	return row
}

func (c *Console) feedRows(n int) []feedRow {
	chains, visits := c.cfg.Feed.Latest(n)
	rows := make([]feedRow, 0, len(chains)+len(visits))
	for _, x := range chains {
		o := outcomes[x.Outcome]
		row := feedRow{At: x.At, Place: c.names.place(x.PlaceID), Door: c.names.door(x.DoorID), BoardID: x.BoardID, Who: x.Actor,
			What: "command." + x.Command, Minutes: x.Minutes, Outcome: x.word(), Class: o.class, Sign: o.sign, ID: x.ID, Way: "way." + x.Method, Detail: x.refusal()}
		if x.Outcome != "" {
			row.Took = span(x.Took())
		}
		row.Who = cmp.Or(row.Who, x.Method)
		rows = append(rows, row)
	}
	rows = append(rows, each.Of(visits, c.visitRow)...)
	slices.SortStableFunc(rows, func(a, b feedRow) int { return b.At.Compare(a.At) })
	rows = rows[:min(n, len(rows))]
	layout := clockLayout(each.Of(rows, func(r feedRow) time.Time { return r.At }), c.cfg.Clock.Now())
	for i, r := range rows {
		rows[i].Time, rows[i].Exact = r.At.UTC().Format(layout), when(r.At)
	}
	return rows
}
