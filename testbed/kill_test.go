package testbed

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/server/command"
)

// tryOpen sends a command; err is set if the connection ended without an answer.
func tryOpen(t *testing.T, c client.Client, door, key string) (status int, replayed bool, err error) {
	a, err := c.Open(t.Context(), door, key)
	if err != nil {
		return 0, false, err
	}
	return a.Status, a.Header.Get("Idempotent-Replayed") == "true", nil
}

// afterLife waits until the server has begun its n-th run.
func afterLife(t *testing.T, tb *Testbed, n int64) {
	t.Helper()
	for lives := int64(0); lives < n; breathe(t) {
		tb.restart.Lock() // held while one run ends and the next begins
		lives = tb.Lives()
		tb.restart.Unlock()
	}
}

// At each crash point the server is killed and started again on the same data: callers get no answer, boards
// reconnect, the key returns the outcome that was durable, and no key causes two pulses [CMD-6].
func TestCrashAtEveryPoint(t *testing.T) {
	t.Parallel()
	tb := begin(t, Config{Virtual: true})
	c := partner(t, tb, 1)
	lab := tb.lab()
	for i, tc := range []struct {
		at     command.Point
		status int
		pulses int // -1 = at most one
	}{
		{command.AfterClaim, 504, 0},
		{command.BeforePublish, 504, 0},
		{command.AfterPublish, 504, -1},
		{command.BeforeCommit, 504, 1},
		{command.AfterCommit, 200, 1},
		{command.BeforeAnswer, 200, 1},
	} {
		key, door := "crash-"+string(tc.at), tb.cfg.World.Places[1].Boards[i].Doors[0].ID
		lives := tb.Lives()
		clienttest.Do(t, lab, http.MethodPost, "/lab/v1/restart", map[string]any{"kill": true, "at": tc.at}, nil)
		if status, _, err := tryOpen(t, c, door, key); err == nil {
			t.Errorf("%s: the dead server answered %d, want no answer", tc.at, status)
		}
		afterLife(t, tb, lives+1)
		for range 2 {
			if status, replayed, err := tryOpen(t, c, door, key); err != nil || status != tc.status || !replayed {
				t.Errorf("%s: then %d, replayed %t, %v; want %d from the ledger", tc.at, status, replayed, err, tc.status)
			}
		}
		if n := pulses(tb, key); n > 1 || tc.pulses >= 0 && n != tc.pulses {
			t.Errorf("%s: %d pulses, want %d", tc.at, n, tc.pulses)
		}
		if status, _, err := tryOpen(t, c, door, "after-"+string(tc.at)); err != nil || status != http.StatusOK {
			t.Errorf("%s: the next life answers %d, %v; want 200", tc.at, status, err)
		}
	}
	var got struct{ Lives int64 }
	if err := lab.Do(t.Context(), http.MethodGet, "/lab/v1/restart", nil, &got); err != nil || got.Lives != 7 {
		t.Errorf("%d lives, %v, want 7", got.Lives, err)
	}
}

// pulses counts the relay pulses for commands under a key.
func pulses(tb *Testbed, key string) (n int) {
	ids := map[string]bool{}
	place := tb.cfg.World.Places[1].ID
	for _, e := range tb.History.Snapshot() {
		if e.Kind == history.Intent && e.Key == history.KeyHash(place, key) {
			ids[e.CommandID] = true
		}
		if e.Kind == history.Actuation && e.Action == "pulse" && ids[e.CommandID] {
			n++
		}
	}
	return n
}

// A server is killed while a command waits for a silent board: the caller's connection is closed, and after the
// restart the key answers 504.
func TestKillWhileWaiting(t *testing.T) {
	t.Parallel()
	tb := begin(t, Config{Virtual: true})
	c := partner(t, tb, 1)
	b := tb.cfg.World.Places[1].Boards[0]
	lab := tb.lab()
	fault := map[string]any{"fault": "silent", "boards": []string{b.ID}}
	clienttest.Do(t, lab, http.MethodPost, "/lab/v1/faults", fault, nil)
	ended := make(chan error, 1)
	go func() {
		_, _, err := tryOpen(t, c, b.Doors[0].ID, "k")
		ended <- err
	}()
	told(t, tb, history.Publish, 1)
	clienttest.Do(t, lab, http.MethodPost, "/lab/v1/restart", map[string]any{"kill": true}, nil)
	if err := <-ended; err == nil {
		t.Error("the caller of a killed server got an answer")
	}
	if status, replayed, err := tryOpen(t, c, b.Doors[0].ID, "k"); status != http.StatusGatewayTimeout || !replayed || err != nil {
		t.Errorf("the next life: %d, replayed %t, %v; want the 504 of the claim", status, replayed, err)
	}
}

func TestRestartRefusals(t *testing.T) {
	t.Parallel()
	tb := begin(t, Config{Virtual: true})
	lab := tb.lab()
	for _, body := range []map[string]any{
		{"kill": true, "at": "after-lunch"}, {"at": "after-claim"}, {"kil": true}, {"kill": "yes"},
	} {
		var failed *client.Error
		err := lab.Do(t.Context(), http.MethodPost, "/lab/v1/restart", body, nil)
		if !errors.As(err, &failed) || failed.Status != http.StatusBadRequest {
			t.Errorf("%v: %v, want 400", body, err)
		}
	}
	if tb.Lives() != 1 {
		t.Errorf("%d lives, want 1: a refused call changes nothing", tb.Lives())
	}
}

// A missing body counts as an empty object, whether or not its length is announced.
func TestRestartWithoutABody(t *testing.T) {
	t.Parallel()
	tb := begin(t, Config{Virtual: true})
	for _, length := range []int64{0, -1} {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/restart", http.NoBody)
		r.ContentLength = length
		before := tb.Lives()
		if tb.postRestart(w, r); w.Code != http.StatusOK || tb.Lives() != before+1 {
			t.Errorf("length %d: %d %s, %d lives, want 200 and %d", length, w.Code, w.Body, tb.Lives(), before+1)
		}
	}
}

// TestAServerThatDoesNotComeBack: whoever asked for the restart, the process is told to end; nothing else could be done
// with it, not even another restart.
func TestAServerThatDoesNotComeBack(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*Testbed) error{"stopped": (*Testbed).Restart, "killed": (*Testbed).Kill} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tb := begin(t, Config{})
			tb.Ready.SIP = "no address"
			if err := end(tb); err == nil {
				t.Fatal("it came back, want an error")
			}
			select {
			case err := <-tb.Failed():
				t.Log(err)
			default:
				t.Error("nobody was told that the testbed has failed")
			}
			if err := end(tb); !errors.Is(err, errRestarting) {
				t.Errorf("a second one: got %v, want %v", err, errRestarting)
			}
			select {
			case err := <-tb.Failed():
				t.Errorf("told again: %v, want one failure", err)
			default:
			}
		})
	}
}

// TestALifeLeavesNothing: when a server was stopped or killed, nothing of it stays in memory, including its caches
// and tables, however often that happens.
func TestALifeLeavesNothing(t *testing.T) {
	t.Parallel()
	tb := begin(t, Config{Virtual: true})
	for name, end := range map[string]func() error{"stopped": tb.Restart, "killed": tb.Kill} {
		must.OK(t, tb.clk.(*clock.Virtual).Advance(tb.clk.Now().Add(time.Hour)))
		was := weak.Make(tb.life.Load().server)
		must.OK(t, end())
		gone := func() bool { runtime.GC(); return was.Value() == nil }
		for tries := 0; !gone(); tries++ { // the previous run's last worker may still be finishing
			if tries == 1000 {
				t.Fatalf("a server that was %s is still reachable, want it collected", name)
			}
			breathe(t)
		}
	}
}
