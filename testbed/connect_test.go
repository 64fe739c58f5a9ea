package testbed

import (
	"context"
	"errors"
	"math"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/boardsim"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/world"
)

// TestStandstill: a fleet of which no board connects isn't waited for forever, and the error says what its attempts
// ended with.
func TestStandstill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := must.Get(boardsim.New(boardsim.Config{World: world.Default(3, 2), Clock: clock.Real{}, Dial: func(context.Context, string) (net.Conn, error) {
			return nil, errors.New("nobody is there")
		}}))(t)
		began := time.Now()
		err := connect(t.Context(), f, nil, stalled)
		if err == nil || !strings.Contains(err.Error(), "0 of 3 boards connected") || !strings.Contains(err.Error(), "nobody is there") {
			t.Errorf("got %v, want the number of boards and the last attempt", err)
		}
		if !errors.Is(err, errStalled) || errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want errStalled, and not what a cancelled start ends with", err)
		}
		if took := time.Since(began); took != stalled {
			t.Errorf("it gave up after %s, want %s", took, stalled)
		}
		must.OK(t, f.Stop())
	})
}

// TestConnectedIsNotArrived: a board that waits for its content has connected but hasn't arrived, so that a start in which boards
// still get theirs isn't given up.
func TestConnectedIsNotArrived(t *testing.T) {
	t.Parallel()
	tb := must.Get(Start(t.Context(), Config{World: world.Default(3, 3), DataDir: t.TempDir()}))(t)
	t.Cleanup(func() { must.OK(t, tb.Stop()) })
	f := must.Get(boardsim.New(boardsim.Config{World: tb.cfg.World, Kinds: []string{world.Live}, Clock: clock.Real{}, Dial: tb.dialMemory, Synced: true,
		Desired: func(string) int64 { return math.MaxInt64 }}))(t) // content that they'll never get
	over := make(chan error, 1)
	go func() { over <- f.Start(t.Context()) }()
	for f.Online() < f.Len() {
		select {
		case err := <-over:
			t.Fatalf("the start ended before the boards were connected: %v", err)
		default:
			breathe(t)
		}
	}
	if n := f.Arrived(); n != 0 || f.Len() == 0 {
		t.Errorf("%d of %d arrived, want none", n, f.Len())
	}
	must.OK(t, f.Stop())
	if err := <-over; err == nil {
		t.Error("the start ended as if the boards had their content")
	}
	if n := tb.fleet.Arrived(); n != tb.Boards() {
		t.Errorf("%d of the testbed's own %d arrived, want all", n, tb.Boards())
	}
}
