package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/listen"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/loadtest"
	"github.com/doorlab/doorlab/testbed"
)

// Below is what makes load one of several generators: its shard of the world, its boards
// in the same process, and a start at the same time.

// divide finds out this generator's part of the world. A target that is somebody else's has
// the places that it lists, unless a world is named.
func (f *loadFlags) divide(ctx context.Context, e *env) error {
	s, err := f.shard.shard(e.getenv)
	if err != nil {
		return err
	}
	f.o.Part.Shard = s
	if s.Of == 0 && f.broker.url == "" || f.target != "" && f.world == "" && f.broker.url == "" {
		return nil
	}
	all, err := f.places(ctx, f.boards)
	if err != nil {
		return err
	}
	for _, p := range all.Places {
		doors := 0
		for _, b := range p.Boards {
			doors += len(b.Doors)
		}
		f.o.Part.World = append(f.o.Part.World, loadtest.Place{PlaceID: p.ID, Name: p.Name, Kind: p.Kind, Doors: doors})
	}
	f.made, err = f.shard.of(all, e.getenv)
	return err
}

// ownFleet are the boards of the target that run in this process, so that one process and
// one clock see each attempt, each movement of a relay and each answer.
type ownFleet struct {
	*testbed.Fleet
	world *world.World
	stop  func()
}

// connect starts them.
func (f *loadFlags) connect(ctx context.Context, e *env) (*ownFleet, error) {
	if f.target == "" {
		return nil, usagef("--broker needs --target, the URL of the server's API")
	}
	addr, secure, err := f.broker.address()
	if err != nil {
		return nil, err
	}
	w := f.made
	if err := overTCP(w.LiveBoards(), listen.Descriptors(), false); err != nil {
		return nil, err
	}
	if f.secretFile == "" && f.seed == 0 && !w.SeedGiven && !w.PasswordsGiven() {
		return nil, usagef("load --broker: the boards' passwords are missing: pass the server's --secret-file FILE, or start both with the same --seed")
	}
	dir, cleanup, err := dataDir(f.data)
	if err != nil {
		return nil, err
	}
	fleet, err := startFleet(ctx, testbed.FleetConfig{World: w, Version: version(), Broker: addr, TLS: secure, Control: "127.0.0.1:0", SecretFile: f.secretFile, DataDir: dir,
		Progress: progress(e), Log: logger(e, slog.LevelError, f.verbose)}, time.Minute)
	if err != nil {
		cleanup()
		return nil, err
	}
	return &ownFleet{fleet, w, func() { _ = fleet.Stop(); cleanup() }}, nil
}

// places are those whose keys derive from the same secret as the boards' passwords: what a
// generator knows that isn't told any key.
func (o *ownFleet) places() (out []client.Place) {
	for _, p := range o.world.Places {
		if k := p.MainKey().Secret; k != "" {
			out = append(out, client.Place{PlaceID: p.ID, Name: p.Name, Kind: p.Kind, APIKey: &k, EntryPhone: p.EntryPhone})
		}
	}
	return out
}

// reportOf is how soon the boards of a world's live places report; nil if it isn't the same everywhere.
func reportOf(w *world.World) (out *loadtest.Report) {
	for i := range w.Places {
		if w.Places[i].Kind != world.Live {
			continue
		}
		reports := w.Places[i].Reports()
		r := loadtest.Report{P50: loadtest.Duration(reports.P50), P99: loadtest.Duration(reports.P99)}
		if out != nil && *out != r {
			return nil
		}
		out = &r
	}
	return out
}

// startAt reads --start-at: a time, or a time of day in UTC, the one that is nearest to now. One that
// has passed is an error, since the other generators began without this one.
func startAt(text string, now time.Time) (at time.Time, err error) {
	if text == "" {
		return at, nil
	}
	if at, err = time.Parse(time.RFC3339Nano, text); err != nil {
		if at, err = time.Parse("15:04:05Z", text); err != nil {
			return at, usagef("--start-at %q: must be a time such as 2026-11-22T09:00:00Z, or a time of day such as 09:00:00Z", text)
		}
		y, m, d := now.UTC().Date()
		at = time.Date(y, m, d, at.Hour(), at.Minute(), at.Second(), 0, time.UTC)
		switch { // around midnight, two minutes from now is tomorrow, and a minute ago yesterday
		case now.Sub(at) > 12*time.Hour:
			at = at.AddDate(0, 0, 1)
		case at.Sub(now) > 12*time.Hour:
			at = at.AddDate(0, 0, -1)
		}
	}
	if !at.After(now) {
		return at, usagef("--start-at %s has passed: it is %s", text, now.UTC().Format(time.RFC3339))
	}
	return at, nil
}
