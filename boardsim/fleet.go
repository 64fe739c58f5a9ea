// Package boardsim is the fleet: simulated boards, each an MQTT client around boardsim/firmware with faults, flash and
// a ground-truth journal, and the control routes that steer them. Commands arrive over a link and reports go back;
// people and faults arrive through the routes.
package boardsim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/doorlab/doorlab/boardsim/fault"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/crew"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/shard"
	"github.com/doorlab/doorlab/internal/world"
)

// Config of a Fleet. World, Dial and Clock must be given.
type Config struct {
	World *world.World // resolved
	// Kinds of places to simulate; empty = world.Test and world.Live.
	Kinds []string
	// Slice takes every n-th live board. Test places are in the first.
	Slice shard.Shard
	// Dial reaches the broker for a board: a memory link or TCP.
	Dial func(ctx context.Context, boardID string) (net.Conn, error)
	// Client is the boards' MQTT client, mqtt.Paho (default) or mqtt.Light.
	Client string
	Clock  clock.Clock
	Flight *clock.Flight // nil = none
	// Apart: the server is in another process and counts nothing in Flight. So only messages that it answers are
	// counted, until their answer arrives.
	Apart bool
	// Synced: Start also waits until every board has its place's content.
	Synced  bool
	History func(history.Event) // nil = none
	DataDir string              // flash and journal; "" = nothing is kept
	Retry   time.Duration       // after losing its line, a board redials at a random time within it; 0 = 300 ms
	Seed    int64               // of latencies, jitter and faults; 0 = World.Seed
	// Desired is the revision that a board should have, for GET /boards; nil = show the applied one.
	Desired func(boardID string) int64
	// Stale is whether Desired is only what was known earlier, because the server doesn't answer; nil = never.
	Stale func() bool
	// Seat is what the server knows about the replacement of a detached board; nil = nothing.
	Seat func(boardID string) Seat
	Addr func() string // broker address in detach's answer, e.g. tcp://127.0.0.1:1883
	Log  *slog.Logger  // nil = discard
}

// Fleet is a running set of boards.
type Fleet struct {
	cfg     Config
	boards  []*board // in the order of the world
	byID    map[string]*board
	byDoor  map[string]*board
	faults  *fault.Set
	flash   *flash
	journal *journal
	absent  *absent
	syncs   changes
	count   *counts
	slots   chan struct{} // bounds concurrent connection attempts
	crew    *crew.Crew    // reads for the boards

	ctx    context.Context
	cancel context.CancelFunc
	house  clock.Timer
	jumped atomic.Int64 // domain ms at the end of the last jump
	deafen func()       // to jumps; nil on a clock without
	online atomic.Int64
	barred atomic.Int64          // boards whose logins are refused
	failed atomic.Pointer[error] // error of the last failed connection
	wg     sync.WaitGroup        // connection attempts
}

// unconnected means that starting took too long; it includes the last failed attempt.
type unconnected struct {
	online, boards int
	last           *error // nil = none has
	over           error  // the context's
}

func (u *unconnected) Error() string {
	out := fmt.Sprintf("boardsim: %d of %d boards connected", u.online, u.boards)
	if u.last != nil {
		out += ", the last attempt failed: " + (*u.last).Error()
	}
	return out
}

// Unwrap is the context's error.
func (u *unconnected) Unwrap() error { return u.over }

// connecting limits concurrent connection attempts.
const connecting = 128

// New builds the boards and loads their flash. It does not connect. Errors: the data directory's.
func New(c Config) (*Fleet, error) {
	if c.World == nil || c.Dial == nil || c.Clock == nil {
		return nil, errors.New("boardsim: World, Dial and Clock are required")
	}
	c.Seed = cmp.Or(c.Seed, c.World.Seed)
	c.Log = cmp.Or(c.Log, slog.New(slog.NewTextHandler(io.Discard, nil)))
	if c.History == nil {
		c.History = func(history.Event) {}
	}
	c.Retry = cmp.Or(c.Retry, firstRetry)
	if len(c.Kinds) == 0 {
		c.Kinds = []string{world.Test, world.Live}
	}
	f := &Fleet{cfg: c, byID: map[string]*board{}, byDoor: map[string]*board{}, count: newCounts(), slots: make(chan struct{}, connecting), crew: crew.New()}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	f.build()
	f.faults = fault.New(fault.Config{Clock: c.Clock, Seed: c.Seed, Boards: f.infos, Board: (*struck)(f)})
	if err := f.open(); err != nil {
		return nil, fmt.Errorf("boardsim: %w", err)
	}
	return f, nil
}

// build makes the boards of the selected places and slice.
func (f *Fleet) build() {
	n := 0
	for i := range f.cfg.World.Places {
		p := &f.cfg.World.Places[i]
		if !slices.Contains(f.cfg.Kinds, p.Kind) {
			continue
		}
		for j := range p.Boards {
			if !f.mine(p.Kind, &n) {
				continue
			}
			b := newBoard(f, p, &p.Boards[j], len(f.boards))
			f.boards = append(f.boards, b)
			f.byID[b.id] = b
			for _, d := range b.s.Doors {
				f.byDoor[d.ID] = b
			}
		}
	}
}

func (f *Fleet) mine(kind string, n *int) bool {
	if f.cfg.Slice.Whole() {
		return true
	}
	if kind == world.Test {
		return f.cfg.Slice.Index == 1
	}
	*n++
	return f.cfg.Slice.Takes(*n - 1)
}

// open loads flash and journal and starts new files.
func (f *Fleet) open() error {
	suffix := ""
	if !f.cfg.Slice.Whole() {
		suffix = fmt.Sprintf("-%d-of-%d", f.cfg.Slice.Index, f.cfg.Slice.Of)
	}
	var err error
	if f.absent, err = openAbsent(f.cfg.DataDir, "detached"+suffix); err != nil {
		return err
	}
	if f.journal, err = openJournal(f.cfg.DataDir, "journal"+suffix, f.byID); err != nil {
		return err
	}
	now := f.nowMs()
	if f.flash, err = openFlash(f.cfg.DataDir, "flash"+suffix, f.byID, now); err != nil {
		return errors.Join(err, f.journal.Close())
	}
	if err := f.flash.renew(f.boards); err != nil {
		return errors.Join(err, f.journal.Close(), f.flash.Close())
	}
	for _, id := range f.absent.ids {
		if b := f.byID[id]; b != nil && !b.test {
			b.stopped = true
			b.detached.Store(true)
		}
	}
	return nil
}

// Start connects all boards and returns when the server has answered each
// hello, or with the context's error.
func (f *Fleet) Start(ctx context.Context) error {
	if v, ok := f.cfg.Clock.(interface {
		OnJump(f func(from, to time.Time)) (stop func())
	}); ok {
		f.deafen = v.OnJump(func(_, to time.Time) { f.jumped.Store(to.UnixMilli()) })
	}
	f.house = f.cfg.Clock.Every(housekeeping, f.housekeep)
	for _, b := range f.boards {
		b.start()
	}
	for _, b := range f.boards {
		select {
		case <-b.first:
		case <-ctx.Done():
			return &unconnected{f.Online(), f.Len(), f.failed.Load(), ctx.Err()}
		case <-f.ctx.Done():
			return errors.New("boardsim: stopped")
		}
	}
	return nil
}

// desired is the revision that a board should have, 0 if unknown.
func (f *Fleet) desired(boardID string) int64 {
	if f.cfg.Desired == nil {
		return 0
	}
	return f.cfg.Desired(boardID)
}

// Stop disconnects all boards, or begins to, see farewell, and closes flash and journal.
func (f *Fleet) Stop() error {
	if f.ctx.Err() != nil {
		return nil
	}
	f.cancel()
	if f.house != nil {
		f.house.Stop()
	}
	if f.deafen != nil {
		f.deafen()
	}
	var leaving []*session
	for _, b := range f.boards {
		if s := b.halt(); s != nil {
			leaving = append(leaving, s)
		}
	}
	goodbyes(leaving)
	f.faults.Reset()
	f.attempts()
	f.flash.wait()
	return errors.Join(f.flash.Close(), f.journal.Close())
}

// Len is the number of boards.
func (f *Fleet) Len() int { return len(f.boards) }

// Online counts the boards that the server has spoken to on their current connection.
func (f *Fleet) Online() int { return int(f.online.Load()) }

// Arrived counts the boards that Start no longer waits for.
func (f *Fleet) Arrived() (n int) {
	for _, b := range f.boards {
		select {
		case <-b.first:
			n++
		default:
		}
	}
	return n
}

// Simulates reports whether a board belongs to the fleet and isn't detached. It is safe for concurrent use; a nil Fleet
// simulates nothing.
func (f *Fleet) Simulates(boardID string) bool {
	if f == nil {
		return false
	}
	b := f.byID[boardID]
	return b != nil && !b.detached.Load()
}

// infos describes the boards to the fault set.
func (f *Fleet) infos() []fault.Info {
	out := make([]fault.Info, 0, len(f.boards))
	for _, b := range f.boards {
		i := fault.Info{ID: b.id, PlaceID: b.placeID, Test: b.test, Detached: b.detached.Load()}
		for _, d := range b.channels {
			i.DoorIDs = append(i.DoorIDs, d.ID)
		}
		out = append(out, i)
	}
	return out
}

// housekeeping is how often the fleet does its housekeeping, digests how often a board sends its digest; both in domain
// time.
const (
	housekeeping = 5 * time.Second
	digests      = 60 * time.Second
)

// housekeep sends the digests that are due, spread over the fleet, and writes
// what could wait. Over a jump it runs once, at the end.
func (f *Fleet) housekeep() {
	if f.ctx.Err() != nil {
		return
	}
	now := f.nowMs()
	for _, b := range f.boards {
		b.housekeep(now)
	}
	f.flash.tick(now, f.boards)
}

func (f *Fleet) nowMs() int64 { return f.cfg.Clock.Now().UnixMilli() }

// emit writes to the history.
func (f *Fleet) emit(e history.Event) {
	e.WallNs = clock.WallNow().UnixNano()
	f.cfg.History(e)
}

// virtual reports whether domain time is virtual.
func (f *Fleet) virtual() bool {
	_, ok := f.cfg.Clock.(*clock.Virtual)
	return ok
}

// walking reports whether virtual time is jumping now.
func (f *Fleet) walking() bool {
	v, ok := f.cfg.Clock.(interface{ State() string })
	return ok && v.State() == clock.Advancing
}

// struck is the fleet as faults see it.
type struck Fleet

func (t *struck) LineChanged(boardID string)        { t.byID[boardID].lineChanged() }
func (t *struck) Reboot(boardID string, wiped bool) { t.byID[boardID].reboot(wiped, false) }
func (t *struck) LoseClock(boardID string)          { t.byID[boardID].reboot(false, true) }
