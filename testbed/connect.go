package testbed

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/doorlab/doorlab/boardsim"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/world"
)

// stalled is how long the boards of the server's own process may connect without any of them arriving. A fleet of any
// size may take its time, but one that stands still will never be there.
const stalled = 2 * time.Minute

// errStalled: the fleet stood still. A cancelled context isn't that.
var errStalled = fmt.Errorf("no further board got its content for %s", stalled)

func (t *Testbed) startFleet(ctx context.Context, broker string) (err error) {
	dial := dialTCP(broker, t.certs.mqtt.Own())
	if t.cfg.Link != TCP {
		dial = t.dialMemory
	}
	t.fleet, err = boardsim.New(boardsim.Config{
		World: t.cfg.World, Kinds: t.kinds(), Dial: dial, Client: t.cfg.Client, Clock: t.clk, Flight: t.flight, Synced: true, History: t.toldByBoards(),
		DataDir: t.ofBoards(), Retry: t.cfg.Retry, Seed: t.cfg.World.Seed, Desired: t.desired, Seat: t.seat,
		Addr: func() string { return t.Ready.MQTT }, Log: t.cfg.Log,
	})
	if err != nil {
		return err
	}
	t.boards.Store(t.fleet) // before the first board connects
	return connect(ctx, t.fleet, t.cfg.Progress, stalled)
}

// ofBoards is the fleet's part of the data directory.
func (t *Testbed) ofBoards() string { return filepath.Join(t.cfg.DataDir, "boards") }

// kinds are the kinds of places whose boards are simulated here.
func (t *Testbed) kinds() []string {
	if t.cfg.Fleet {
		return []string{world.Test, world.Live}
	}
	return []string{world.Test}
}

// simulated reports whether a board of a place of that kind was to be simulated here when the testbed started. A restart
// of the server asks the same again: what a start let pass mustn't end the process later.
func (t *Testbed) simulated(kind, boardID string) bool {
	return slices.Contains(t.kinds(), kind) && (kind == world.Test || !slices.Contains(t.detached, boardID))
}

// connect starts a fleet and reports its progress once per second. It gives up when no further board has arrived for
// patience; 0 = never.
func connect(ctx context.Context, f *boardsim.Fleet, tell func(online, boards int), patience time.Duration) error {
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	var mu sync.Mutex
	var timer clock.Timer
	done := false
	most, still := 0, time.Duration(0)
	var again func()
	again = func() {
		mu.Lock()
		defer mu.Unlock()
		if done {
			return
		}
		if tell != nil {
			tell(f.Online(), f.Len())
		}
		now := f.Arrived() // a board that is connected may still be getting its content
		if still += time.Second; now > most {
			most, still = now, 0
		}
		if patience > 0 && still >= patience {
			giveUp(errStalled)
			return
		}
		timer = clock.WallAfter(time.Second, again)
	}
	mu.Lock()
	timer = clock.WallAfter(time.Second, again)
	mu.Unlock()
	err := f.Start(ctx)
	mu.Lock()
	defer mu.Unlock()
	done = true
	timer.Stop()
	if err != nil && errors.Is(context.Cause(ctx), errStalled) { // nobody cancelled it, so that mustn't be what the caller sees
		err = fmt.Errorf("%s (%w)", err.Error(), errStalled)
	}
	return err
}
