package fault

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/doorlab/doorlab/boardsim/link"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/faults"
	"github.com/doorlab/doorlab/internal/must"
)

func TestNthCountsMatchingCommands(t *testing.T) {
	t.Parallel()
	s, _ := newSet(2)
	arm(t, s, Spec{Fault: "refuse", PlaceID: "A", DoorIDs: []string{"a1/2", "a2/1"}, Commands: []string{"door.open", "hold"}, Nth: 2})
	var got []string
	for _, c := range [][3]string{
		{"a1", "a1/1", "open"}, {"a1", "a1/2", "close"}, // no match
		{"a1", "a1/2", "open"},                         // first match
		{"b1", "b1/1", "open"}, {"a2", "a2/2", "hold"}, // no match
		{"a2", "a2/1", "hold"}, // second match
		{"a1", "a1/2", "open"},
	} {
		if d := s.Command(c[0], c[1], c[2]); d.Refuse != "" {
			got = append(got, fmt.Sprint(c))
		}
	}
	if d := cmp.Diff([]string{"[a2 a2/1 hold]"}, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if l := s.List(); l[0].Hits != 1 || l[0].Nth != 2 {
		t.Errorf("got %+v, want l[0].Hits = 1, l[0].Nth = 2", l)
	}
}

func TestSharesAreDisjointWhileTheyFit(t *testing.T) {
	t.Parallel()
	run := func(seed int64) (sets [][]string) {
		s := New(Config{Seed: seed, Boards: fleet(199)})
		for range 4 {
			arm(t, s, Spec{Fault: "noop", Share: new(.05)})
		}
		arm(t, s, Spec{Fault: "noop", Share: new(.8)})
		arm(t, s, Spec{Fault: "noop", Share: new(.001)})
		arm(t, s, Spec{Fault: "noop", Share: new(.0124)}) // 2.48 of 200 boards
		arm(t, s, Spec{Fault: "noop", Share: new(.0126)}) // 2.52
		for _, a := range s.List() {
			sets = append(sets, a.Boards)
		}
		return sets
	}
	sets, seen := run(7), map[string]int{}
	for i, want := range []int{10, 10, 10, 10, 160, 1, 2, 3} {
		if len(sets[i]) != want || !sort.StringsAreSorted(sets[i]) {
			t.Errorf("share %d has %d boards, want %d", i, len(sets[i]), want)
		}
		for _, b := range sets[i] {
			seen[b]++
			if seen[b] > 1 && i < 5 {
				t.Errorf("%s is in two shares", b)
			}
		}
	}
	if d := cmp.Diff(sets, run(7)); d != "" {
		t.Error("not the same again:", d)
	}
	if cmp.Equal(sets[0], run(8)[0]) {
		t.Error("the seed makes no difference")
	}
	s := New(Config{Seed: 7, Boards: fleet(199)})
	first := arm(t, s, Spec{Fault: "noop", Share: new(.05)})
	arm(t, s, Spec{Fault: "noop", Share: new(.05)})
	_, _ = s.Remove(first) // frees its boards
	arm(t, s, Spec{Fault: "noop", Share: new(.05)})
	if got := s.List()[1].Boards; !slices.Equal(got, sets[0]) {
		t.Errorf("a share after a removal: got %v, want %v", got, sets[0])
	}
}

func TestDelaysFollowTheirQuantiles(t *testing.T) {
	t.Parallel()
	draw := func(seed int64) (out []int64) {
		s := New(Config{Seed: seed, Boards: fleet(1)})
		arm(t, s, on("slow", "p50Ms", 100, "p99Ms", 1000))
		for range 5000 {
			out = append(out, s.Command("a1", "a1/1", "open").Delay.Milliseconds())
		}
		return out
	}
	got := draw(7)
	if !slices.Equal(got, draw(7)) || slices.Equal(got, draw(8)) {
		t.Error("delays do not follow the seed")
	}
	slices.Sort(got)
	p50, p99, top := float64(got[2500]), float64(got[4950]), got[4999]
	if math.Abs(p50-100) > 15 || math.Abs(p99-1000) > 250 || got[0] < 0 || top > 2000 {
		t.Errorf("p50 %v, p99 %v, %d..%d, want about 100 and 1000, within 0..2000", p50, p99, got[0], top)
	}
}

func TestTimeWindow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := clock.NewVirtual(time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), nil)
		board := &told{}
		s := New(Config{Clock: v, Boards: fleet(1), Board: board})
		spec := on("offline")
		spec.For = 10 * time.Minute
		arm(t, s, spec)
		if u := s.List()[0].Until; u == nil || !u.Time.Equal(v.Now().Add(10*time.Minute)) {
			t.Errorf("until %v, want %v", u, v.Now().Add(10*time.Minute))
		}
		time.Sleep(10*time.Minute - time.Millisecond)
		synctest.Wait()
		if !s.Line("a1").Offline {
			t.Error("over too early")
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if s.Line("a1").Offline || len(s.List()) != 0 || s.Hits()["offline"] != 1 {
			t.Error("not over in time")
		}
		spec.For = 36 * time.Hour
		arm(t, s, spec)
		must.OK(t, v.Advance(v.Now().Add(36*time.Hour)))
		if s.Line("a1").Offline {
			t.Error("not over after a jump")
		}
		if d := cmp.Diff([]string{"line a1", "line a1", "line a1", "line a1"}, board.take()); d != "" {
			t.Errorf("-want +got:\n%s", d)
		}
	})
}

// TestTimeWindowOfSeveral: the end of a fault on several boards follows the boards' clock, too.
func TestTimeWindowOfSeveral(t *testing.T) {
	t.Parallel()
	v := clock.NewVirtual(time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), nil)
	v.Freeze()
	s := New(Config{Clock: v, Boards: fleet(3), Board: &told{}})
	arm(t, s, Spec{Fault: "offline", PlaceID: "A", For: 36 * time.Hour})
	for _, step := range []struct {
		d       time.Duration
		offline bool
	}{{36*time.Hour - time.Millisecond, true}, {time.Millisecond, false}} {
		must.OK(t, v.Advance(v.Now().Add(step.d)))
		for _, b := range []string{"a1", "a2", "a3"} {
			if got := s.Line(b).Offline; got != step.offline {
				t.Errorf("%s after another %v: offline %v, want %v", b, step.d, got, step.offline)
			}
		}
	}
}

// TestGoneFaultsAreFound: a fault's result can still be read after the fault has expired, was removed, or ended
// immediately.
func TestGoneFaultsAreFound(t *testing.T) {
	t.Parallel()
	s, _ := newSet(2)
	at := arm(t, s, Spec{Fault: "reboot", PlaceID: "A"})
	removed := arm(t, s, on("noop"))
	for range 3 {
		s.Command("a1", "a1/1", "open")
	}
	armed := arm(t, s, on("offline"))
	must.Get(s.Remove(removed))(t)
	for id, want := range map[string]int64{at: 2, removed: 3, armed: 1} {
		if got, err := s.Find(id); err != nil || got.FaultID != id || got.Hits != want {
			t.Errorf("%s: %+v, %v, want %d hits", id, got, err, want)
		}
	}
	s.Reset()
	if got, err := s.Find(armed); err != nil || got.Hits != 1 || got.Count != 1 || len(got.Boards) != 0 {
		t.Errorf("after a reset: %+v, %v, want 1 hit on 1 board, and no list of boards", got, err)
	}
	for range maxGone {
		_, _ = s.Remove(arm(t, s, on("noop")))
	}
	if _, err := s.Find(armed); !errors.Is(err, ErrNotFound) {
		t.Errorf("a fault of long ago: %v, want %v", err, ErrNotFound)
	}
}

func TestFlap(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := clock.NewVirtual(time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), nil)
		s := New(Config{Clock: v, Seed: 7, Boards: fleet(9)})
		id := arm(t, s, Spec{Fault: "flap", PlaceID: "A", Params: map[string]any{"upSec": 30, "downSec": 10}})
		var down, turns [9]int
		var was [9]bool
		apart := false
		for sec := range 4000 {
			n := 0
			for i := range 9 {
				is := s.Line(fmt.Sprintf("a%d", i+1)).Offline
				if is != was[i] {
					turns[i]++
				}
				if was[i] = is; is {
					down[i]++
					n++
				}
			}
			if apart = apart || n > 0 && n < 9; sec == 0 && n > 0 {
				t.Error("begins down")
			}
			time.Sleep(time.Second)
			synctest.Wait()
		}
		for i := range 9 {
			if down[i] < 990 || down[i] > 1010 || turns[i] < 199 || turns[i] > 201 {
				t.Errorf("a%d: down %d of 4000 s, %d turns, want 990 to 1010 and 199 to 201", i+1, down[i], turns[i])
			}
		}
		if !apart {
			t.Error("the boards fall in step")
		}
		last, err := s.Remove(id)
		if err != nil || last.Hits < 890 || last.Hits > 910 {
			t.Errorf("got %d hits, %v, want 890 to 910 and no error", last.Hits, err)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if s.Line("a1") != (Line{}) || s.Hits()["flap"] != last.Hits {
			t.Error("flaps on")
		}
	})
}

// Whatever is armed and removed in whatever order, the fleet is clean once everything is gone, and at every moment a
// board is affected by exactly the faults that name it.
func TestStackingReturnsToClean(t *testing.T) {
	t.Parallel()
	v := clock.NewVirtual(time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), nil)
	v.Freeze() // else a line that flaps would go down
	rapid.Check(t, func(t *rapid.T) {
		s := New(Config{Clock: v, Seed: rapid.Int64().Draw(t, "seed"), Boards: fleet(5)})
		boards := []string{"a1", "a2", "a3", "a4", "a5", "b1"}
		live := map[string]faults.Armed{}
		var order []string
		t.Repeat(map[string]func(*rapid.T){
			"arm": func(t *rapid.T) {
				spec := Spec{Fault: rapid.SampledFrom(faults.Names()).Draw(t, "fault")}
				switch rapid.IntRange(0, 2).Draw(t, "cohort") {
				case 0:
					spec.Boards = rapid.SliceOfNDistinct(rapid.SampledFrom(boards), 1, 6, rapid.ID[string]).Draw(t, "boards")
				case 1:
					spec.PlaceID = rapid.SampledFrom([]string{"A", "B"}).Draw(t, "place")
				case 2:
					spec.Share = new(rapid.Float64Range(.01, 1).Draw(t, "share"))
				}
				id, err := s.Arm(spec)
				if err != nil {
					t.Fatal(err)
				}
				if k, _ := lookup(spec.Fault); k.instant == nil {
					l := s.List()
					live[id], order = l[len(l)-1], append(order, id)
				}
			},
			"remove": func(t *rapid.T) {
				if len(order) == 0 {
					t.Skip("no fault is armed")
				}
				i := rapid.IntRange(0, len(order)-1).Draw(t, "which")
				if _, err := s.Remove(order[i]); err != nil {
					t.Fatal(err)
				}
				delete(live, order[i])
				order = slices.Delete(order, i, i+1)
			},
			"": func(t *rapid.T) {
				for _, b := range boards {
					felt := map[string]bool{}
					for _, a := range live {
						felt[a.Fault] = felt[a.Fault] || slices.Contains(a.Boards, b)
					}
					l, d := s.Line(b), s.Command(b, b+"/1", "open")
					if l.Offline != felt["offline"] || l.HalfOpen != felt["halfopen"] || d.Lost != felt["silent"] ||
						(d.Refuse != "") != (felt["refuse"] && !felt["silent"]) || (l.Lossy.Percent > 0) != felt["lossy"] {
						t.Fatalf("%s: got %+v %+v under %v, want the effect of exactly these faults", b, l, d, felt)
					}
				}
			},
		})
		s.Reset()
		for _, b := range boards {
			if r := s.Command(b, "", "open"); s.Line(b) != (Line{}) || r.Incoming != (Incoming{}) || r.armed != nil || s.Offset(b, time.Time{}) != 0 {
				t.Fatalf("%s still feels a fault, want it clean", b)
			}
		}
		if len(s.byBoard) != 0 || s.commands.Load() != 0 || s.lines.Load() != 0 || s.clocks.Load() != 0 {
			t.Fatal("something is left")
		}
	})
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	s := New(Config{Boards: fleet(20)})
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for n := range 200 {
				id, err := s.Arm(Spec{Fault: faults.Names()[(n+i)%len(kinds)], Share: new(.5), For: 0})
				if err != nil {
					t.Error(err)
				}
				s.Command("a1", "a1/1", "open")
				s.LineHit("a2", link.Up, i%2 == 0)
				s.List()
				_, _ = s.Remove(id)
			}
		})
	}
	wg.Wait()
	if l := s.List(); len(l) != 0 {
		t.Errorf("left: got %v, want none", l)
	}
}

func BenchmarkNothingArmed(b *testing.B) {
	s := New(Config{Boards: fleet(1000)})
	for b.Loop() {
		s.Command("a1", "a1/1", "open")
		s.Line("a1")
	}
}
