// Package age plays years of virtual time. A seed determines what happens in a world of boards and people: who comes
// and goes, who stands at which door, which lines fail and for how long. It is played in this process over memory
// links, and judged as it streams, one segment at a time, each from the state that the previous one left, so that
// memory use stays level however long the run is. cmd/doorlab runs it.
package age

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/crew"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/live"
	"github.com/doorlab/doorlab/internal/report"
	"github.com/doorlab/doorlab/testbed"
)

// Config of a run. Boards, Doors, For, Entries and DataDir must be given.
type Config struct {
	For       time.Duration
	Start     time.Time // of virtual time
	Boards    int       // simulated live boards; the test place has one more
	Doors     int       // per board
	Entries   float64   // per door and day
	Seed      int64
	Segment   time.Duration // how much is judged at a time; 0 = a week
	Retention testbed.Retention
	DataDir   string
	Progress  live.Screen
	Worlds    int           // among which the boards are divided, played side by side; 0 = one per 50 boards
	Wait      time.Duration // how long the server waits for a board; 0 = 3 s
	Version   string
	Log       *slog.Logger // nil = discard
	// StopWithin and Late are the testbed's: how long an interrupted run waits for a server to end; 0 = until it has.
	StopWithin time.Duration
	Late       func(time.Duration)

	keepsAll bool // for tests: the server forgets nothing, whatever Retention says
}

// Shortest is the shortest run: a segment needs time to end calmly.
const Shortest = 6 * time.Hour

// begins is the multiple of virtual time at which a run starts.
const begins = 10 * time.Minute

// week is the usual segment.
const week = 7 * 24 * time.Hour

// The server waits this long for a board and collects changes for this long, and boards redial this soon: they report
// at once, and a year has many mornings.
const (
	wait     = 3 * time.Second
	coalesce = 500 * time.Microsecond
	retry    = 20 * time.Millisecond
)

// run is a world being played.
type run struct {
	c      Config
	name   string // among several worlds; "" = the only one
	tb     *testbed.Testbed
	clk    *clock.Virtual
	public http.Handler
	lab    http.Handler
	token  string // of lab
	places []*place
	crew   *crew.Crew // plays what happens at once
	from   time.Time  // of virtual time

	mu       sync.Mutex      // of the next five, and of tb, clk and from while it opens
	log      []history.Event // of the segment: the state that it found, then what happened
	found    int             // of log, the events of that state
	standing history.Standing
	quiet    bool // the latest segment ended at rest
	count    Counts
	trouble  error // the first thing that stopped the run

	kept     carried
	judging  sync.WaitGroup // of the next ones, which only its goroutine and whoever waited for it use
	verdicts []judge.Verdict
	evidence []history.Event // events of the first segment with a breach, else of the last one
	shown    string          // which segment that is
	breached bool
	files    []report.FileResult
	notes    []string
	last     Counts            // at the last cut
	since    time.Duration     // clock.Mono at the last cut
	lost     int64             // messages that jumps of the clock had given up by the last cut
	armed    map[string]string // faults in force: their ids by fault and board

	interrupted context.Context // ends when the caller gives up, not when another world fails
}

func wallNs() int64 { return clock.WallNow().UnixNano() }

// open starts the world.
func (r *run) open(ctx context.Context) error {
	w, keep := makeWorld(r.c), r.c.Retention
	if r.c.keepsAll {
		keep = testbed.Retention{}
	}
	tb, err := testbed.Start(ctx, testbed.Config{World: w, Fleet: true, Client: testbed.Light, Virtual: true, Start: r.c.Start, Seeded: true,
		DataDir: r.c.DataDir, Tell: r.tell, Retention: keep, Wait: r.c.Wait, Coalesce: coalesce, Retry: retry, LookOnce: true, Log: r.c.Log,
		StopWithin: r.c.StopWithin, Interrupted: r.interrupted, Late: r.c.Late})
	if err != nil {
		return err
	}
	clk := tb.Clock().(*clock.Virtual)
	clk.Freeze()
	// The boards took some time to connect, which must not influence what is drawn.
	if err := clk.Advance(clk.Now().Truncate(begins).Add(begins)); err != nil {
		return errors.Join(err, tb.Stop())
	}
	r.mu.Lock()
	r.tb, r.clk, r.from = tb, clk, clk.Now()
	r.mu.Unlock()
	r.public, r.lab, r.token = tb.Inside()
	r.since = clock.Mono()
	r.people(w)
	return nil
}

// tell processes an event of server or boards, or of a client.
func (r *run) tell(e history.Event) {
	e.WallNs = cmp.Or(e.WallNs, wallNs())
	r.mu.Lock()
	defer r.mu.Unlock()
	r.append(e)
	r.standing.See(e)
}

// append adds an event to the segment's history; r.mu is held.
func (r *run) append(e history.Event) {
	e.Seq = int64(len(r.log) + 1)
	r.log = append(r.log, e)
}

// whole plays a world from its beginning to its end.
func (r *run) whole(ctx context.Context) error {
	defer r.crew.Close()
	if err := r.open(ctx); err != nil {
		return err
	}
	return errors.Join(r.play(ctx), r.tb.Stop())
}

// play plays one segment after the other.
func (r *run) play(ctx context.Context) error {
	end := r.from.Add(r.c.For)
	for n := 0; r.clk.Now().Before(end); n++ {
		from, to := r.clk.Now(), r.clk.Now().Add(r.c.Segment)
		if to.After(end) || end.Sub(to) < r.c.Segment/2 {
			to = end
		}
		r.quiet = false
		err := r.segment(ctx, n, from, to)
		if err == nil {
			err = r.calm(to)
		}
		r.judge(from)
		if err != nil {
			return err
		}
	}
	r.retention()
	return r.broken()
}

// segment plays what is drawn for a period.
func (r *run) segment(ctx context.Context, n int, from, to time.Time) error {
	for _, p := range r.places {
		p.token = "" // tokens are judged from their exchange on
	}
	for _, m := range r.draw(n, from, to) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := r.clk.Advance(m.at); err != nil {
			return fmt.Errorf("the clock, to %s: %w", m.at, err)
		}
		r.happen(m)
		if err := r.broken(); err != nil {
			return err
		}
	}
	return nil
}

// broken is the first thing that stopped the run.
func (r *run) broken() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.trouble
}

// failed stops the run.
func (r *run) failed(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trouble = cmp.Or(r.trouble, fmt.Errorf(format, args...))
}
