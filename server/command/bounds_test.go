package command

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/wire"
)

func TestHangUp(t *testing.T) {
	t.Parallel()
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.ok(2 * time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan error)
		go func() { _, err := r.Execute(ctx, open("k")); gone <- err }()
		synctest.Wait()
		cancel()
		if err := <-gone; !errors.Is(err, context.Canceled) {
			t.Errorf("caller got %v, want %v", err, context.Canceled)
		}
		if a := r.must(t, open("k")); a.Status != 200 || !a.Replayed || r.b.count() != 1 {
			t.Errorf("got %+v, %d sent, want Status 200, Replayed true and 1", a, r.b.count())
		}
	})
}

func TestBound(t *testing.T) {
	t.Parallel()
	bubble(t, func(c *Config) { c.InFlight = 2 }, func(t *testing.T, r *rig) {
		var wg sync.WaitGroup
		for _, k := range []string{"a", "b", "b"} {
			wg.Go(func() { r.must(t, open(k)) })
		}
		synctest.Wait()
		if _, err := r.Execute(t.Context(), open("c")); !errors.Is(err, ErrTooMany) {
			t.Errorf("third: got %v, want %v", err, ErrTooMany)
		}
		wg.Wait()
		if a := r.must(t, open("c")); a.Status != 504 {
			t.Errorf("afterwards: got %+v, want Status 504", a)
		}
	})
}

// TestBoundOfTestPlace: commands in the test place have a bound of their own.
func TestBoundOfTestPlace(t *testing.T) {
	t.Parallel()
	bubble(t, func(c *Config) { c.PerTestPlace = 1 }, func(t *testing.T, r *rig) {
		test := func(key string) Request {
			q := open(key)
			q.DoorID = "dor_test"
			return q
		}
		var wg sync.WaitGroup
		wg.Go(func() { r.must(t, test("a")) })
		synctest.Wait()
		if _, err := r.Execute(t.Context(), test("b")); !errors.Is(err, ErrTooMany) {
			t.Errorf("second in the test place: got %v, want %v", err, ErrTooMany)
		}
		wg.Go(func() { r.must(t, open("c")) }) // a live door's isn't bound by it
		wg.Wait()
	})
}

// TestBoundOfPlace: one place can't use up the capacity of the others.
func TestBoundOfPlace(t *testing.T) {
	t.Parallel()
	bubble(t, func(c *Config) { c.PerPlace = 2 }, func(t *testing.T, r *rig) {
		r.Service.mu.Lock()
		r.Service.at["plc_b"] = 2
		r.Service.mu.Unlock()
		var wg sync.WaitGroup
		for _, k := range []string{"a", "b"} {
			wg.Go(func() { r.must(t, open(k)) })
		}
		synctest.Wait()
		if _, err := r.Execute(t.Context(), open("c")); !errors.Is(err, ErrTooMany) {
			t.Errorf("third: got %v, want %v", err, ErrTooMany)
		}
		wg.Wait()
		a := r.must(t, open("c"))
		synctest.Wait()
		r.Service.mu.Lock()
		defer r.Service.mu.Unlock()
		if a.Status != 504 || r.Service.at["plc_a"] != 0 {
			t.Errorf("afterwards: got %+v, %v, want 504 and nothing left for the place", a, r.Service.at)
		}
	})
}

// TestBoundsAsPromised: without other settings a live place may have 500 commands in progress, a test place 200 and the
// server 10,000.
func TestBoundsAsPromised(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		door, place string // "" = of any place
		most        int    // in progress there
	}{
		"a live place": {"dor_1", "plc_a", 500},
		"a test place": {"dor_test", "plc_a", 200},
		"the server":   {"dor_1", "", 10000},
	} {
		bubble(t, nil, func(t *testing.T, r *rig) {
			begin := func(others int) (Answer, error) {
				r.Service.mu.Lock()
				if c.place == "" {
					r.Service.running = others
				} else {
					r.Service.at[c.place] = others
				}
				r.Service.mu.Unlock()
				q := open("key")
				q.DoorID = c.door
				return r.Execute(t.Context(), q)
			}
			if _, err := begin(c.most); !errors.Is(err, ErrTooMany) {
				t.Errorf("%s with %d commands in progress: got %v, want %v", name, c.most, err, ErrTooMany)
			}
			if a, err := begin(c.most - 1); err != nil || a.Status != 504 {
				t.Errorf("%s with %d commands in progress: got %+v, %v; want a command that is carried out", name, c.most-1, a, err)
			}
		})
	}
}

func TestNoDoor(t *testing.T) {
	t.Parallel()
	bubble(t, nil, func(t *testing.T, r *rig) {
		q := open("k")
		q.PlaceID = "plc_b"
		for _, id := range []string{"dor_1", "dor_9"} {
			q.DoorID = id
			if _, err := r.Execute(t.Context(), q); !errors.Is(err, ErrNoDoor) {
				t.Errorf("%s: got %v, want err to be ErrNoDoor", id, err)
			}
		}
	})
}

func TestStorageAway(t *testing.T) {
	t.Parallel()
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.l.fail = true
		if _, err := r.Execute(t.Context(), open("k")); !errors.Is(err, errDisk) || r.b.count() != 0 {
			t.Errorf("claim: got %v, %d sent, want %v and 0", err, r.b.count(), errDisk)
		}
		r.l.fail = false
		r.b.answer = func(b string, c wire.Command) {
			r.l.mu.Lock()
			r.l.fail = true
			r.l.mu.Unlock()
			r.Report(b, wire.Report{CommandID: c.ID, Result: vocab.OK}, r.ack("rpt"))
		}
		for range 2 { // the outcome isn't durable: no caller may see it
			if _, err := r.Execute(t.Context(), open("k")); !errors.Is(err, errDisk) {
				t.Errorf("settle: got %v, want %v", err, errDisk)
			}
		}
		if r.acked() != "[]" {
			t.Errorf("acknowledged before the commit: got %s, want []", r.acked())
		}
		r.l.mu.Lock()
		r.l.fail = false
		r.l.mu.Unlock()
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if a := r.must(t, open("k")); a.Status != 200 || !a.Replayed || r.b.count() != 1 || r.acked() != "[rpt true]" {
			t.Errorf("got %+v, %d sent, %s, want Status 200, Replayed true, 1 and [rpt true]", a, r.b.count(), r.acked())
		}
	})
}

func TestStopAnswersAtOnce(t *testing.T) {
	t.Parallel()
	bubble(t, nil, func(t *testing.T, r *rig) {
		got := make(chan Answer)
		go func() { got <- r.must(t, open("k")) }()
		synctest.Wait()
		start := time.Now()
		go r.Stop()
		if a := <-got; a.Status != 504 || time.Since(start) != 0 {
			t.Errorf("got %+v after %s, want Status 504 and 0", a, time.Since(start))
		}
		synctest.Wait()
		if _, err := r.Execute(t.Context(), open("l")); !errors.Is(err, ErrStopped) {
			t.Errorf("after Stop: got %v, want %v", err, ErrStopped)
		}
	})
}
