package command

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/wire"
)

// slow blocks a write until the returned func is called.
func (l *memLedger) slow(gate *chan struct{}) (release func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ch := make(chan struct{})
	*gate = ch
	return func() {
		l.mu.Lock()
		*gate = nil
		l.mu.Unlock()
		close(ch)
	}
}

// waiting starts n callers of one request and returns their results.
func (r *rig) waiting(t *testing.T, n int, q Request) <-chan result {
	t.Helper()
	out := make(chan result, n)
	start := time.Now()
	for range n {
		go func() {
			a, err := r.Execute(t.Context(), q)
			out <- result{a, err, time.Since(start)}
		}()
	}
	synctest.Wait()
	return out
}

type result struct {
	Answer
	err  error
	took time.Duration
}

// A claim that becomes durable after notAfter is withdrawn: nothing is sent, all callers have got a 503 by then, and
// the key is free.
func TestLateClaim(t *testing.T) {
	t.Parallel()
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.ok(0)
		release := r.l.slow(&r.l.gate)
		other := open("k")
		other.Command = wire.CmdClose
		got, conflict := r.waiting(t, 3, open("k")), r.waiting(t, 1, other)
		time.Sleep(20 * time.Second)
		for range 3 {
			if g := <-got; !errors.Is(g.err, ErrUnavailable) || g.took != DefaultNotAfter {
				t.Errorf("caller got %v after %s, want ErrUnavailable after %s", g.err, g.took, DefaultNotAfter)
			}
		}
		if g := <-conflict; !errors.Is(g.err, ErrUnavailable) || g.took != DefaultNotAfter {
			t.Errorf("another request got %v after %s, want ErrUnavailable after %s", g.err, g.took, DefaultNotAfter)
		}
		if g := <-r.waiting(t, 1, open("k")); !errors.Is(g.err, ErrUnavailable) || g.took != 0 {
			t.Errorf("a repeat got %v after %s, want ErrUnavailable at once", g.err, g.took)
		}
		release()
		synctest.Wait()
		if r.b.count() != 0 || len(r.l.rows) != 0 || len(r.l.records) != 0 || r.Counts().Withdrawn.Load() != 1 {
			t.Errorf("%d sent, rows %v, records %v, %d withdrawn; want nothing and 1", r.b.count(), r.l.rows, r.l.records, r.Counts().Withdrawn.Load())
		}
		if a := r.must(t, open("k")); a.Status != 200 || a.Replayed || r.b.count() != 1 {
			t.Errorf("the free key: %+v, %d sent; want a command of its own", a, r.b.count())
		}
	})
}

// The store commits just in time or just too late; the board gets what is left of notAfter.
func TestClaimAtTheBound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		at   time.Duration
		sent int
	}{{4 * time.Second, 1}, {DefaultNotAfter - time.Millisecond, 1}, {DefaultNotAfter + time.Millisecond, 0}} {
		t.Run(c.at.String(), func(t *testing.T) {
			t.Parallel()
			bubble(t, nil, func(t *testing.T, r *rig) {
				r.ok(0)
				release := r.l.slow(&r.l.gate)
				quick := open("quick")
				got := r.waiting(t, 1, open("k"))
				time.Sleep(c.at)
				release()
				g := <-got
				synctest.Wait()
				if (g.err == nil) != (c.sent == 1) || r.b.count() != c.sent {
					t.Fatalf("%v, %d sent, want %d", g.err, r.b.count(), c.sent)
				}
				r.must(t, quick)
				if c.sent == 1 {
					if left := r.b.sent[1].NotAfterMs - r.b.sent[0].NotAfterMs; left != c.at.Milliseconds() {
						t.Errorf("notAfter of a command accepted %s later is %d ms later, want as much", c.at, left)
					}
				}
			})
		})
	}
}

// Withdrawing fails for a while. Until it is durable, the key answers 503.
func TestWithdrawAgain(t *testing.T) {
	t.Parallel()
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.ok(0)
		release := r.l.slow(&r.l.gate)
		got := r.waiting(t, 1, open("k"))
		time.Sleep(6 * time.Second)
		<-got
		r.l.keeps = true
		release()
		time.Sleep(3 * time.Second)
		if _, err := r.Execute(t.Context(), open("k")); !errors.Is(err, ErrUnavailable) {
			t.Errorf("while the row is there: %v, want ErrUnavailable", err)
		}
		r.l.mu.Lock()
		r.l.keeps = false
		r.l.mu.Unlock()
		time.Sleep(3 * time.Second)
		if a := r.must(t, open("k")); a.Status != 200 || a.Replayed || r.b.count() != 1 {
			t.Errorf("got %+v, %d sent, want Status 200, Replayed false and 1", a, r.b.count())
		}
	})
}

// The outcome can't be committed in time. Callers are answered anyway, and the same key returns the right answer
// later.
func TestLateSettle(t *testing.T) {
	t.Parallel()
	bound := DefaultNotAfter + DefaultWait + time.Second
	for _, c := range []struct {
		name   string
		boards func(*rig)
		err    error
		status int
		then   int
	}{
		{"reported", func(r *rig) { r.ok(time.Second) }, ErrUnavailable, 0, 200},
		{"silent", func(*rig) {}, nil, 504, 504},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, nil, func(t *testing.T, r *rig) {
				c.boards(r)
				release := r.l.slow(&r.l.settleGate)
				got := r.waiting(t, 2, open("k"))
				var body string
				for range 2 {
					g := <-got
					if !errors.Is(g.err, c.err) || g.Status != c.status || g.took > bound {
						t.Errorf("%d, %v after %s; want %d, %v within %s", g.Status, g.err, g.took, c.status, c.err, bound)
					}
					body = string(g.Body)
				}
				release()
				synctest.Wait()
				a := r.must(t, open("k"))
				if a.Status != c.then || !a.Replayed || c.err == nil && string(a.Body) != body || r.b.count() != 1 {
					t.Errorf("then %d %q, first %q, %d sent; want %d", a.Status, a.Body, body, r.b.count(), c.then)
				}
			})
		})
	}
}

// A service that stops answers everybody immediately, even if the ledger is stuck.
func TestStopWithStuckLedger(t *testing.T) {
	t.Parallel()
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.b.answer = func(b string, c wire.Command) {
			if b == "brd_b" {
				r.Report(b, wire.Report{CommandID: c.ID, Result: vocab.OK}, r.ack("rpt"))
			}
		}
		settles := r.l.slow(&r.l.settleGate)
		second := open("settling")
		second.DoorID = "dor_2"
		silent, settling := r.waiting(t, 2, open("silent")), r.waiting(t, 1, second)
		claims := r.l.slow(&r.l.gate)
		claiming := r.waiting(t, 2, open("claiming"))
		time.Sleep(time.Second)
		stopped := make(chan struct{})
		go func() { r.Stop(); close(stopped) }()
		for range 2 {
			if g := <-silent; g.Status != 504 || g.took > time.Second {
				t.Errorf("a silent board: %d, %v after %s, want 504 at once", g.Status, g.err, g.took)
			}
			if g := <-claiming; !errors.Is(g.err, ErrStopped) || g.took != time.Second {
				t.Errorf("claiming: %v after %s, want ErrStopped at once", g.err, g.took)
			}
		}
		if g := <-settling; !errors.Is(g.err, ErrUnavailable) || g.took != time.Second+stopGrace {
			t.Errorf("settling: %v after %s, want ErrUnavailable after %s", g.err, g.took, stopGrace)
		}
		claims()
		settles()
		<-stopped
		if r.b.count() != 2 || len(r.l.rows) != 2 {
			t.Errorf("%d sent, %d claims; want the two of before", r.b.count(), len(r.l.rows))
		}
	})
}

// A killed service neither settles nor answers; the next one finds the claim.
func TestKill(t *testing.T) {
	t.Parallel()
	for _, at := range append(CrashPoints, "") { // "": while waiting for the board
		t.Run(string(at), func(t *testing.T) {
			t.Parallel()
			var r *rig
			trace := func(p Point, _ *Trail) {
				if p == at {
					r.Kill()
				}
			}
			bubble(t, func(c *Config) { c.Trace = trace }, func(t *testing.T, rr *rig) {
				r = rr
				if at != "" {
					r.ok(10 * time.Millisecond)
				}
				got := r.waiting(t, 2, open("k"))
				if at == "" {
					r.Kill()
				}
				for range 2 {
					if g := <-got; !errors.Is(g.err, ErrStopped) {
						t.Errorf("a caller got %d, %v, want ErrStopped", g.Status, g.err)
					}
				}
				r.Stop() // nothing is running any more
				time.Sleep(time.Second)
				if r.acked() != "[]" || r.Report("brd_a", wire.Report{CommandID: "cmd", Result: vocab.OK}, r.ack("rpt")) {
					t.Errorf("a killed service accepted a report: %s", r.acked())
				}
				if work, _ := r.fl.Pending(); work != 0 {
					t.Errorf("got %d pieces of work left in flight, want 0", work)
				}
				next := New(Config{Ledger: r.l, Sender: r.b, Clock: r.v, Flight: r.fl})
				defer next.Stop()
				n, err := next.Recover()
				settled := at == AfterCommit || at == BeforeAnswer
				if err != nil || (n == 0) != settled {
					t.Errorf("%d recovered, %v; want none exactly if it was settled (%t)", n, err, settled)
				}
				sent := r.b.count()
				a, err := next.Execute(t.Context(), open("k"))
				want := 504
				if settled {
					want = 200
				}
				if err != nil || a.Status != want || !a.Replayed || r.b.count() != sent {
					t.Errorf("afterwards %+v, %v, %d sent again; want %d", a, err, r.b.count()-sent, want)
				}
			})
		})
	}
}
