package loadtest

import (
	"math"
	"net/url"
	"testing"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"
	"pgregory.net/rapid"

	"github.com/doorlab/doorlab/internal/must"
)

func TestScheduleOfEachPacer(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text  string
		total int64
		first time.Duration // of hit 1
		last  time.Duration
		peak  float64
	}{
		"constant": {"rate: 10\nduration: 2s", 20, 100 * time.Millisecond, 1900 * time.Millisecond, 10},
		"ramp up":  {"pacer: ramp\nto: 10\nduration: 2s", 10, 632455532, 1897366596, 10},
		"ramp":     {"pacer: ramp\nrate: 10\nto: 20\nduration: 2s", 30, 97617696, 1949683532, 20},
		"stages":   {"pacer: stages\nstages: [{rate: 10, duration: 1s}, {rate: 0, duration: 1s}, {rate: 10, to: 20, duration: 2s}]", 40, 100 * time.Millisecond, 3949683532, 20},
		"sine":     {"pacer: sine\nrate: 100\namplitude: 50\nperiod: 4s\nduration: 8s", 800, 9961384, 7989890520, 150},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSchedule(mustParse(t, tt.text).withDefaults())
			near := func(a, b time.Duration) bool { return (a - b).Abs() < 100*time.Microsecond }
			if s.total != tt.total || s.at(0) != 0 || s.peak() != tt.peak {
				t.Errorf("total %d, first %s, peak %g, want %d, 0 and %g", s.total, s.at(0), s.peak(), tt.total, tt.peak)
			}
			if name != "sine" && (!near(s.at(1), tt.first) || !near(s.at(s.total-1), tt.last)) {
				t.Errorf("hit 1 at %d, the last at %d; want %d and %d", s.at(1), s.at(s.total-1), tt.first, tt.last)
			}
		})
	}
}

// at is the inverse of hits, never goes backwards, and stays within the run.
func TestScheduleInverts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		p := Plan{Pacer: "stages"}
		for range rapid.IntRange(1, 4).Draw(rt, "stages") {
			to := Rate(rapid.Float64Range(0, 500).Draw(rt, "to"))
			p.Stages = append(p.Stages, Stage{Rate: Rate(rapid.Float64Range(0.1, 500).Draw(rt, "rate")), To: &to,
				Duration: Duration(rapid.IntRange(100, 5000).Draw(rt, "ms")) * Duration(time.Millisecond)})
		}
		if rapid.Bool().Draw(rt, "sine") {
			mean := rapid.Float64Range(1, 500).Draw(rt, "mean")
			p = Plan{Pacer: "sine", Rate: Rate(mean), Amplitude: Rate(mean * rapid.Float64Range(0, 1).Draw(rt, "amp")),
				Period: Duration(3 * time.Second), Duration: Duration(7 * time.Second)}
		}
		s := newSchedule(p)
		last := time.Duration(0)
		for n := range s.total {
			at := s.at(n)
			if at < last || at.Seconds() > s.seconds+1e-6 {
				rt.Fatalf("hit %d at %s after %s in a run of %gs; want times to rise and stay within the run", n, at, last, s.seconds)
			}
			if got := s.hits(at.Seconds()); math.Abs(got-float64(n)) > 1e-3 {
				rt.Fatalf("at(%d) = %s, but %g hits are due then, want the same number", n, at, got)
			}
			last = at
		}
	})
}

// TestFirstAfterAPause: a request due at the end of a pause belongs to the stage after it, although rates and times of
// stages don't add up exactly.
func TestFirstAfterAPause(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rate    Rate
		seconds float64
		first   int64 // request after the pause
		due     time.Duration
	}{{1.1, 90, 99, 150 * time.Second}, {0.07, 100, 7, 160 * time.Second}, {0.55, 100, 55, 160 * time.Second}, {1.11, 300, 333, 360 * time.Second}, {10, 0.1, 1, 60100 * time.Millisecond}} {
		p := Plan{Pacer: "stages", Stages: []Stage{{Rate: c.rate, Duration: Duration(c.seconds * 1e9)}, {Duration: Duration(time.Minute)}, {Rate: 1, Duration: Duration(10 * time.Second)}}}
		s := newSchedule(p)
		col := newCollector()
		col.pacer = &pacer{schedule: s}
		if got := s.at(c.first); got != c.due || col.stage(got) != col.ofStage(2) {
			t.Errorf("%g/s for %g s and a pause of a minute: request %d is due at %s, in the last stage: %v; want %s and true", c.rate, c.seconds, c.first, got, col.stage(got) == col.ofStage(2), c.due)
		}
	}
	s := newSchedule(Plan{Pacer: "stages", Stages: []Stage{{Rate: 10, Duration: Duration(1e8)}, {Rate: 10, Duration: Duration(2e8)}, {Rate: 10, Duration: Duration(1e9)}}})
	col := newCollector()
	col.pacer = &pacer{schedule: s}
	if col.stage(s.at(3)) != col.ofStage(2) {
		t.Errorf("the request due at %s, where the third of stages of 0.1 s, 0.2 s and 1 s begins, isn't in it", s.at(3))
	}
}

func TestSharesAreExact(t *testing.T) {
	t.Parallel()
	for _, share := range []float64{0, 0.01, 0.1, 1.0 / 3, 0.5, 0.9, 1} {
		got := 0
		for n := range int64(1000) {
			if due(n, share) {
				got++
			}
		}
		if want := int(math.Floor(1000*share + 1e-6)); got != want {
			t.Errorf("share %g: %d, want %d", share, got, want)
		}
	}
}

func TestSpreads(t *testing.T) {
	t.Parallel()
	for name, check := range map[string]func(counts map[string]int) bool{
		"even": func(c map[string]int) bool { return len(c) == 20 && c["0"] == 100 },
		"one":  func(c map[string]int) bool { return len(c) == 1 },
		"zipf": func(c map[string]int) bool {
			top := 0
			for _, n := range c {
				top = max(top, n)
			}
			return len(c) > 5 && top > 500
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src := testSource(mustParse(t, "rate: 100\nduration: 20s\ndoors: "+name), 7)
			seen, again := map[string]int{}, testSource(src.plan, 7)
			for range 2000 {
				h := src.make()
				seen[h.door.id]++
				if other := again.make(); other.door.id != h.door.id || other.key != h.key {
					t.Fatalf("the same seed: got %s with key %s, want %s with key %s", other.door.id, other.key, h.door.id, h.key)
				}
			}
			if !check(seen) {
				t.Error(seen)
			}
		})
	}
}

// Delayed repeats have the requested age.
func TestRepeatAfter(t *testing.T) {
	t.Parallel()
	src := testSource(mustParse(t, "rate: 100\nduration: 20s\nrepeatedKeys: 20%\nrepeatedAtOnce: 0%\nrepeatAfter: 3s"), 1)
	first := map[string]int64{}
	for range 2000 {
		h := src.make()
		if !h.repeat {
			first[h.key] = h.n
		} else if age := src.sched.at(h.n) - src.sched.at(first[h.key]); h.n > 400 && age < 3*time.Second {
			t.Fatalf("hit %d repeats one that is %s old, want at least 3s", h.n, age)
		}
	}
	if src.repeats != 400 {
		t.Errorf("%d repeats, want 400", src.repeats)
	}
}

func testSource(p Plan, seed int64) *source {
	p = p.withDefaults()
	base := &url.URL{Scheme: "http", Host: "127.0.0.1:1", Path: "/"}
	pl := &place{Place: Place{PlaceID: "plc_1"}}
	var doors []door
	for i := range 20 {
		doors = append(doors, door{number(float64(i)), pl})
	}
	return newSource(p, newSchedule(p), base, doors, seed, "run", time.Now)
}

func BenchmarkTargeter(b *testing.B) {
	p := must.Get(Load("door-commands"))(b)
	src := testSource(p, 1)
	b.ReportAllocs()
	for n := int64(0); b.Loop(); n++ {
		var t vegeta.Target
		must.OK(b, src.target(&t))
		src.flying.Delete(n)
	}
}

func BenchmarkAt(b *testing.B) {
	for _, name := range []string{"ramp", "soak"} {
		p := must.Get(Load(name))(b)
		s := newSchedule(p)
		b.Run(p.Pacer, func(b *testing.B) {
			for n := int64(0); b.Loop(); n++ {
				_ = s.at(n % s.total)
			}
		})
	}
}
