package command

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/wire"
)

func bubble(t *testing.T, change func(*Config), f func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, newRig(t, change)) })
}

func (r *rig) must(t *testing.T, q Request) Answer {
	t.Helper()
	a := must.Get(r.Execute(t.Context(), q))(t)
	return a
}

func TestOutcomes(t *testing.T) {
	t.Parallel()
	refuse := func(r *rig) {
		r.b.answer = func(b string, c wire.Command) {
			r.Report(b, wire.Report{CommandID: c.ID, Result: vocab.Refused, Code: "jammed"}, r.ack("rpt"))
		}
	}
	for _, tc := range []struct {
		name   string
		boards func(*rig)
		q      func(*Request)
		status int
		record vocab.Result
		sent   int
		took   time.Duration
	}{
		{"reported", func(r *rig) { r.ok(30 * time.Millisecond) }, nil, 200, "opened", 1, 30 * time.Millisecond},
		{"held", func(r *rig) { r.ok(0) }, func(q *Request) { q.Command, q.Minutes = wire.CmdHold, 5 }, 200, "held", 1, 0},
		{"locked", func(r *rig) { r.ok(0) }, func(q *Request) { q.Command = wire.CmdClose }, 200, "locked", 1, 0},
		{"refused", refuse, nil, 502, vocab.Refused, 1, 0},
		{"offline", func(r *rig) { r.b.offline = true }, nil, 409, vocab.Offline, 0, 0},
		{"noResponse", func(*rig) {}, nil, 504, vocab.NoResponse, 1, 8 * time.Second},
		{"just in time", func(r *rig) { r.ok(8*time.Second - time.Millisecond) }, nil, 200, "opened", 1, 8*time.Second - time.Millisecond},
		{"sim offline", func(r *rig) { r.ok(0) }, sims("sim:offline"), 409, vocab.Offline, 0, 0},
		{"sim refused", func(r *rig) { r.ok(0) }, sims("sim:refused:tamper"), 502, vocab.Refused, 0, 0},
		{"sim silent", func(r *rig) { r.ok(0) }, sims("sim:noResponse"), 504, vocab.NoResponse, 0, 8 * time.Second},
		{"sim silent after", func(r *rig) { r.ok(0) }, sims("sim:noResponse:opened"), 504, vocab.NoResponse, 1, 8 * time.Second},
		{"sim delay", func(r *rig) { r.ok(0) }, sims("sim:delay:1500"), 200, "opened", 1, 1500 * time.Millisecond},
		{"sim is only text here", func(r *rig) { r.ok(0) }, func(q *Request) { q.Reason = "sim:offline" }, 200, "opened", 1, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, nil, func(t *testing.T, r *rig) {
				tc.boards(r)
				q := open("k")
				if tc.q != nil {
					tc.q(&q)
				}
				start := time.Now()
				a := r.must(t, q)
				if took := time.Since(start); a.Status != tc.status || a.Replayed || took != tc.took {
					t.Errorf("status %d, replayed %t after %s, want %d, false and %s", a.Status, a.Replayed, took, tc.status, tc.took)
				}
				if got := r.l.records[a.Result.CommandID]; got != tc.record || r.b.count() != tc.sent {
					t.Errorf("record %q, %d sent, want %q and %d", got, r.b.count(), tc.record, tc.sent)
				}
				for i, remembers := range []bool{false, true} {
					r.l.remembers = remembers
					again := r.must(t, q)
					if !again.Replayed || again.Status != a.Status || string(again.Body) != string(a.Body) || r.b.count() != tc.sent {
						t.Errorf("remembered %t: replay %+v, %d sent, want Replayed true, Status %v, Body %v and %d", remembers, again, r.b.count(), a.Status, string(a.Body), tc.sent)
					}
					if r.l.replays[a.Result.CommandID] != i+1 || len(r.l.records) != 1 {
						t.Errorf("remembered %t: replays %v, want %d; records %v, want one", remembers, r.l.replays, i+1, r.l.records)
					}
				}
				synctest.Wait()
				if work, _ := r.fl.Pending(); work != 0 {
					t.Errorf("got %d pieces of work left in flight, want 0", work)
				}
			})
		})
	}
}

func sims(reason string) func(*Request) {
	return func(q *Request) { q.Reason, q.Sim = reason, true }
}

func TestJoin(t *testing.T) {
	t.Parallel()
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.ok(time.Second)
		var wg sync.WaitGroup
		var mu sync.Mutex
		replayed, bodies := 0, map[string]int{}
		for range 20 {
			wg.Go(func() {
				a, err := r.Execute(t.Context(), open("k"))
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				bodies[string(a.Body)]++
				if a.Replayed {
					replayed++
				}
			})
		}
		wg.Wait()
		if r.b.count() != 1 || len(bodies) != 1 || replayed != 19 {
			t.Errorf("%d sent, answers %v, %d replayed; want one sent, one answer, 19 replayed", r.b.count(), bodies, replayed)
		}
		for id := range r.l.records {
			if r.l.replays[id] != 19 {
				t.Errorf("replays %v, want 19", r.l.replays)
			}
		}
	})
}

// TestOneKeyAtTwoPlaces: each place has its own keys, even while a command is running.
func TestOneKeyAtTwoPlaces(t *testing.T) {
	t.Parallel()
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.ok(time.Second)
		away := open("k")
		away.PlaceID, away.DoorID = "plc_b", "dor_away"
		var wg sync.WaitGroup
		for _, q := range []Request{open("k"), away} {
			wg.Go(func() {
				if a, err := r.Execute(t.Context(), q); err != nil || a.Status != 200 || a.Replayed || a.Result.DoorID != q.DoorID {
					t.Errorf("%s: got %d of %s, replayed %t, %v; want 200 of its own", q.PlaceID, a.Status, a.Result.DoorID, a.Replayed, err)
				}
			})
		}
		wg.Wait()
		if r.b.count() != 2 {
			t.Errorf("%d commands sent, want one to each place", r.b.count())
		}
	})
}

func TestReuse(t *testing.T) {
	t.Parallel()
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.ok(time.Second)
		other := open("k")
		other.DoorID = "dor_2"
		running := make(chan struct{})
		go func() { defer close(running); r.must(t, open("k")) }()
		synctest.Wait()
		if _, err := r.Execute(t.Context(), other); !errors.Is(err, ErrReused) {
			t.Errorf("while it runs: got %v, want %v", err, ErrReused)
		}
		<-running
		if _, err := r.Execute(t.Context(), other); !errors.Is(err, ErrReused) {
			t.Errorf("afterwards: got %v, want %v", err, ErrReused)
		}
		same := open("k")
		same.Minutes = 7 // minutes matter only for hold
		if a := r.must(t, same); !a.Replayed {
			t.Error("minutes of an open make another request of it")
		}
		if r.b.count() != 1 || r.Counts().Reused.Load() != 2 {
			t.Errorf("got %d sent, %+v, want 1 and Reused 2", r.b.count(), r.Counts())
		}
		r.must(t, Request{Order: Order{PlaceID: "plc_a", DoorID: "dor_1", Command: wire.CmdOpen}})
		r.must(t, Request{Order: Order{PlaceID: "plc_a", DoorID: "dor_1", Command: wire.CmdOpen}})
		if r.b.count() != 3 {
			t.Error("no key, no joining")
		}
	})
}

// A caller whose request matches the stored one must not get "reused" just because a different request under the same
// key is being refused at that moment.
func TestReuseRace(t *testing.T) {
	t.Parallel()
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.ok(0)
		first := r.must(t, open("k"))
		r.l.gate = make(chan struct{})
		other := open("k")
		other.Command = wire.CmdClose
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := r.Execute(t.Context(), other); !errors.Is(err, ErrReused) {
				t.Errorf("other: got %v, want %v", err, ErrReused)
			}
		})
		synctest.Wait()
		wg.Go(func() {
			if a := r.must(t, open("k")); !a.Replayed || string(a.Body) != string(first.Body) {
				t.Errorf("replay %+v, want Replayed true and Body %v", a, string(first.Body))
			}
		})
		synctest.Wait()
		close(r.l.gate)
		wg.Wait()
	})
}

func TestRetention(t *testing.T) {
	t.Parallel()
	bubble(t, nil, func(t *testing.T, r *rig) {
		r.ok(0)
		t0 := r.v.Now()
		first := r.must(t, open("k"))
		for _, tc := range []struct {
			age    time.Duration
			replay bool
		}{{Retention - time.Millisecond, true}, {Retention, false}, {Retention + time.Hour, true}} {
			must.OK(t, r.v.Advance(t0.Add(tc.age)))
			if a := r.must(t, open("k")); a.Replayed != tc.replay {
				t.Errorf("at %s: got %+v, want Replayed %v", tc.age, a, tc.replay)
			}
		}
		synctest.Wait()
		if r.l.rows[first.Result.CommandID] != nil {
			t.Error("housekeeping left a claim that is 30 days old")
		}
	})
}

func TestSteps(t *testing.T) {
	t.Parallel()
	var steps []string
	bubble(t, func(c *Config) { c.Trace = func(p Point, _ *Trail) { steps = append(steps, string(p)) } }, func(t *testing.T, r *rig) {
		r.ok(0)
		r.must(t, open("k"))
		r.must(t, open("k"))
		want := "after-claim before-publish after-publish before-commit after-commit before-answer"
		if got := strings.Join(steps, " "); got != want {
			t.Errorf("steps %q, want %q", got, want)
		}
	})
}

// A jump of virtual time waits for a command in progress, but not for a silent board.
func TestJumpAndSilence(t *testing.T) {
	t.Parallel()
	bubble(t, nil, func(t *testing.T, r *rig) {
		go func() { _, _ = r.Execute(t.Context(), open("k")) }()
		synctest.Wait()
		start := time.Now()
		if err := r.v.Advance(r.v.Now().Add(36 * time.Hour)); err != nil || time.Since(start) != 0 {
			t.Errorf("got %v after %s, want no error and 0", err, time.Since(start))
		}
	})
}
