package testbed

import (
	"context"
	"maps"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/server/board"
)

// TestOutageOfBoardsApart: the boards run in another process. Right after they are cut, the server is asked to settle
// and its clock jumps; it must date the outage to the cut.
func TestOutageOfBoardsApart(t *testing.T) {
	t.Parallel()
	w := world.Default(3, 8)
	tb := must.Get(Start(t.Context(), Config{World: w, Seeded: true, Virtual: true, DataDir: t.TempDir(), Control: "127.0.0.1:0"}))(t)
	t.Cleanup(func() { _ = tb.Stop() })
	f := must.Get(StartFleet(t.Context(), FleetConfig{World: w, Virtual: true, Broker: strings.TrimPrefix(tb.Ready.MQTT, "tcp://"), Control: "127.0.0.1:0", DataDir: t.TempDir()}))(t)
	t.Cleanup(func() { _ = f.Stop() })
	fleet := client.Client{Base: f.Ready.Control, Token: f.Ready.ControlToken}
	ask := func(path string, body any) (out pending) {
		t.Helper()
		must.OK(t, fleet.Do(t.Context(), http.MethodPost, "/lab/v1"+path, body, &out))
		return out
	}
	ask("/server", map[string]string{"control": tb.Ready.Control, "token": tb.Ready.ControlToken})
	virtual := tb.clk.(*clock.Virtual)
	virtual.Freeze()
	cut := tb.clk.Now()
	ask("/faults", map[string]any{"fault": "offline", "share": 1})
	if got := ask("/clock/settle", nil); got.Pending != 0 {
		t.Errorf("the server doesn't know of the end of %d connections, want 0", got.Pending)
	}
	must.OK(t, virtual.Advance(cut.Add(time.Hour)))
	for _, p := range w.Places[1:] {
		for _, b := range p.Boards {
			if s := tb.life.Load().server.Board(b.ID); s.State != board.Offline || s.Since.Sub(cut).Abs() > time.Millisecond {
				t.Errorf("%s is %s since %s, want offline since the cut at %s", b.ID, s.State, s.Since, cut)
			}
		}
	}
}

// A server waits until it has handled the end of a connection, but no longer than its limit.
func TestStandingConnections(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := clock.NewFlight()
		joined := f.Join("brd_1", "10.0.0.1:1")
		f.Join("brd_2", "10.0.0.1:2") // never ends
		began := clock.Mono()
		clock.WallAfter(time.Second, joined.Left)
		if n := standing(t.Context(), f, map[string]string{"brd_1": "10.0.0.1:1", "brd_3": "10.0.0.1:3"}); n != 0 || clock.Mono()-began != time.Second {
			t.Errorf("%d standing after %s, want 0 after 1s", n, clock.Mono()-began)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if n := standing(ctx, f, map[string]string{"brd_2": "10.0.0.1:2"}); n != 1 {
			t.Errorf("%d standing, want 1", n)
		}
	})
}

// Boards that receive their change are waited for; those that don't are given up 2 s after the last one that did.
func TestUntilQuiet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := clock.Mono()
		at := func() time.Duration { return (clock.Mono() - began).Round(10 * time.Millisecond) }
		all := map[string]int64{"a": 2, "b": 2, "deaf": 2}
		look := func() map[string]int64 {
			left := maps.Clone(all)
			maps.DeleteFunc(left, func(id string, _ int64) bool {
				return id == "a" && at() >= time.Second || id == "b" && at() >= 2*time.Second
			})
			return left
		}
		if got := untilQuiet(t.Context(), look); len(got) != 1 || got["deaf"] != 2 || at() != 4*time.Second {
			t.Errorf("%v is left after %s, want the deaf one after 4s", got, at())
		}
		delete(all, "deaf")
		began = clock.Mono()
		if got := untilQuiet(t.Context(), look); len(got) != 0 || at() != 2*time.Second {
			t.Errorf("%v is left after %s, want nothing after 2s", got, at())
		}
	})
}
