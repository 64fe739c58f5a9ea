package loadtest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/shard"
)

// TestPartsMakeTheWhole: for any rate and number of shards, the shards of a schedule together have each request once,
// at the time at which one generator would send it, and as many repeats.
func TestPartsMakeTheWhole(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		p := Plan{Rate: Rate(rapid.Float64Range(30, 200).Draw(rt, "rate")), Duration: Duration(rapid.IntRange(2000, 9000).Draw(rt, "ms")) * Duration(time.Millisecond)}
		if rapid.Bool().Draw(rt, "ramp") {
			p.Pacer, p.To = "ramp", Rate(rapid.Float64Range(1, 200).Draw(rt, "to"))
		}
		share := Share(rapid.Float64Range(0, 0.5).Draw(rt, "share"))
		whole := newSchedule(p.withDefaults())
		n := rapid.IntRange(1, 12).Draw(rt, "shards")
		weights := rapid.SliceOfN(rapid.Int64Range(1, 9), n, n).Draw(rt, "doors")
		doors := int64(0)
		for _, w := range weights {
			doors += w
		}
		var want, got []time.Duration
		for k := range whole.total {
			want = append(want, whole.at(k))
		}
		repeats := 0
		for i := 1; i <= n; i++ {
			s, err := whole.part(&Shard{Index: i, Of: n, weights: weights})
			if errors.Is(err, ErrShard) { // it gets no requests
				continue
			}
			if err != nil {
				rt.Fatal(err)
			}
			if fair := float64(whole.total) * float64(weights[i-1]) / float64(doors); math.Abs(float64(s.total)-fair) >= 2 {
				rt.Fatalf("shard %d of %d with %d of %d doors has %d of %d requests, want about %.1f", i, n, weights[i-1], doors, s.total, whole.total, fair)
			}
			for k := range s.total {
				got = append(got, s.at(k))
				if due(k, s.repeats(share)) {
					repeats++
				}
			}
			if rate := s.peak() * float64(doors) / float64(weights[i-1]); math.Abs(rate-whole.peak()) > 1e-6 {
				rt.Fatalf("shard %d of %d peaks at %g/s, want %d of %d parts of %g/s", i, n, s.peak(), weights[i-1], doors, whole.peak())
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			rt.Fatalf("%d shards send %d requests, want the %d of the whole at the same times", n, len(got), len(want))
		}
		wantRepeats := 0
		for k := range whole.total {
			if due(k, float64(share)) {
				wantRepeats++
			}
		}
		if repeats != wantRepeats {
			rt.Fatalf("%d shards repeat %d keys, want %d as one generator does", n, repeats, wantRepeats)
		}
	})
}

// placesOf returns n live places, preceded by a test place.
func placesOf(n int) []Place {
	list := []Place{{PlaceID: "plc_test", Name: "Test", Kind: "test", APIKey: "sact_x"}}
	for i := range n {
		list = append(list, Place{PlaceID: fmt.Sprintf("plc_%d", i), Name: fmt.Sprintf("Place %d", i), Kind: "live", APIKey: "sacl_x"})
	}
	return list
}

const shardPlan = "name: evening\nrate: 100/s\nduration: 10s\nrepeatedKeys: 10%\nrepeatedAtOnce: 0%\nthresholds: {p99_reported: 90ms, errors: 0, rate_min: 99/s, reported_min: 900, offline_max: 17}"

// generators runs a load as n concurrent shards against one target; 0: undivided.
func generators(t *testing.T, n int) []Result {
	t.Helper()
	f := newFake()
	f.work = func(n int) (int, string) {
		time.Sleep(time.Duration(20+n%60) * time.Millisecond)
		if n%100 == 99 {
			return 409, "offline"
		}
		return 200, ""
	}
	target, o := bubble(f)
	target.Places, o.StartAt = placesOf(9), time.Now().Add(time.Minute)
	results, errs := make([]Result, max(n, 1)), make([]error, max(n, 1))
	var wg sync.WaitGroup
	for i := range results {
		o := o
		if n > 0 {
			o.Part.Shard = shard.Shard{Index: i + 1, Of: n}
		}
		wg.Go(func() { results[i], errs[i] = Run(t.Context(), target, mustParse(t, shardPlan), o) })
	}
	wg.Wait()
	must.OK(t, errors.Join(errs...))
	return results
}

// TestShardsMergedAreOneRun: one to four merged shards have exactly the counts, percentiles, series and verdict of a
// single run.
func TestShardsMergedAreOneRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		one := generators(t, 0)[0]
		for n := 1; n <= 4; n++ {
			parts := generators(t, n)
			var places []string
			for _, p := range parts {
				places = append(places, p.Shard.Places...)
			}
			slices.Sort(places)
			if len(places) != 9 || len(slices.Compact(places)) != 9 {
				t.Errorf("%d shards have the places %q, want each of 9 live ones once", n, places)
			}
			m := merge(parts, nil)
			type figures struct {
				Verdict                                    string
				Planned, Sent, Attempts, Repeats, Replayed int64
				PlannedRate, SentRate, P50, P99, P999, Max float64
				Statuses                                   map[string]int64
				Thresholds                                 []Threshold
			}
			of := func(r Result) figures {
				l := r.outcome(everything).Scheduled
				return figures{r.Verdict, r.Planned, r.Sent, r.Attempts, r.Repeats, r.Replayed, r.PlannedRate, r.SentRate, l.P50, l.P99, l.P999, l.Max, r.Statuses, r.Thresholds}
			}
			if diff := cmp.Diff(of(one), of(m)); diff != "" {
				t.Errorf("%d shards merged differ from one run (-one +merged)\n%s", n, diff)
			}
			for k, p := range m.Series {
				if p.Sent != one.Series[k].Sent || p.Planned != one.Series[k].Planned {
					t.Errorf("%d shards: second %d has %d of %d requests, want %d of %d", n, k, p.Sent, p.Planned, one.Series[k].Sent, one.Series[k].Planned)
				}
			}
		}
	})
}

// TestShardAlone: a single shard isn't blamed for what only all shards together can show; what it breaks itself
// counts.
func TestShardAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, r := range generators(t, 4) {
			for _, h := range r.Thresholds {
				later := h.Name == "rate_min" || h.Name == "reported_min"
				if !h.OK || later != (h.Value == waiting) {
					t.Errorf("shard %s: %s %s is %s, want ok, and %v that the merge tells", r.Shard, h.Name, h.Limit, h.Value, later)
				}
			}
			want := int64(222) // of 1,000 requests for 9 places, those to two of them
			if r.Shard.Index == 2 {
				want = 333
			}
			if d := r.Sent - want; r.Verdict != Pass || d < 0 || d > 1 || math.Abs(r.PlannedRate-float64(r.Sent)/10) > 0.1 {
				t.Errorf("shard %s: %s, %d sent at %g/s, want PASS with %d or one more in 10 s", r.Shard, r.Verdict, r.Sent, r.PlannedRate, want)
			}
		}
	})
}

// TestEachDoorAsOften: however places and doors are divided among shards, merged they command each door as often as
// one generator does, give or take two requests.
func TestEachDoorAsOften(t *testing.T) {
	t.Parallel()
	plan := newSchedule(mustParse(t, "rate: 100/s\nduration: 60s").withDefaults())
	all := placesOf(10)
	for i := range all {
		all[i].Doors = 1 + i*i%7
	}
	var least, most float64
	doors := 0
	for n := 1; n <= 4; n++ {
		least, most, doors = math.Inf(1), 0, 0
		sent := int64(0)
		for i := 1; i <= n; i++ {
			mine, of, err := Part{Shard: shard.Shard{Index: i, Of: n}, World: all}.take(all, "live")
			if err != nil {
				t.Fatal(err)
			}
			s := must.Get(plan.part(of))(t)
			own := 0
			for _, p := range mine {
				own += p.Doors
			}
			each := float64(s.total) / float64(own)
			least, most, doors, sent = min(least, each), max(most, each), doors+own, sent+s.total
		}
		if sent != plan.total || most-least > 0.2 {
			t.Errorf("%d shards send %d requests, %.2f to %.2f per door; want %d, %.2f each", n, sent, least, most, plan.total, float64(plan.total)/float64(doors))
		}
	}
}

func TestTakesItsPlaces(t *testing.T) {
	t.Parallel()
	all := placesOf(5)
	bare := make([]Place, len(all)) // a world file has no keys
	for i, p := range all {
		bare[i] = Place{PlaceID: p.PlaceID, Name: p.Name, Kind: p.Kind}
	}
	second := shard.Shard{Index: 2, Of: 3}
	for name, c := range map[string]struct {
		part   Part
		target []Place
		kind   string
		want   string
	}{
		"of the target's":             {Part{Shard: second}, all, "live", "plc_0 plc_3"},
		"of the world's":              {Part{second, bare}, all, "live", "plc_0 plc_3"},
		"of a cell that has no other": {Part{second, bare}, []Place{all[1], all[4]}, "live", "plc_0 plc_3"},
		"the test place":              {Part{Shard: shard.Shard{Index: 1, Of: 3}}, all, "test", "plc_test"},
		"all kinds":                   {Part{Shard: shard.Shard{Index: 1, Of: 3}}, all, "all", "plc_test plc_2"},
		"of another cell":             {Part{second, bare}, []Place{all[0], all[3]}, "live", "no key for Place 0 (plc_0) of shard 2/3"},
		// If there is no live place, a single generator falls back to the test place. A shard that happens to have
		// only test places must not.
		"no live one in it": {Part{Shard: shard.Shard{Index: 1, Of: 6}}, all, "live", `none of 6 places of the kind "live" is in shard 1/6`},
	} {
		mine, of, err := c.part.take(c.target, c.kind)
		var ids []string
		for _, p := range mine {
			ids = append(ids, p.PlaceID)
			if p.APIKey == "" {
				t.Errorf("%s: %s has no key, want the target's", name, p.PlaceID)
			}
		}
		got := strings.Join(ids, " ")
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) || (err != nil) != (of == nil) || err != nil && !errors.Is(err, ErrShard) {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
	for text, plan := range map[string]string{"each step depends on the one before": "pacer: search\nrate: 10\nto: 20\nduration: 1s\nthresholds: {errors: 0}", "2 requests for 3 shards": "rate: 2\nduration: 1s"} {
		if err := (Part{Shard: second}).Check(mustParse(t, plan)); !errors.Is(err, ErrShard) || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: got %v, want ErrShard with %q", plan, err, text)
		}
	}
}

// TestStartAt: the first request is due at that time; a generator that isn't ready by then makes the run INVALID.
func TestStartAt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		at := time.Now().Add(90 * time.Second)
		target, o := bubble(newFake())
		plan := mustParse(t, "rate: 100\nduration: 1s")
		o.StartAt = at
		res, err := Run(t.Context(), target, plan, o)
		if err != nil || res.Verdict != Pass || res.Started.Sub(at).Abs() > time.Millisecond {
			t.Errorf("started at %s, %s, %v; want %s", res.Started, res.Verdict, err, at)
		}
		o.StartAt = time.Now().Add(-1500 * time.Millisecond) // as if preparing the target had taken long
		if res, err = Run(t.Context(), target, plan, o); err != nil || res.Verdict != Invalid || !strings.Contains(res.Reasons[0], "began 1.5 s after") {
			t.Errorf("%s %q, %v; want INVALID, begun 1.5 s late", res.Verdict, res.Reasons, err)
		}
	})
}

// TestHistoryOfAShard: when several shards share a server, each judges only its own places.
func TestHistoryOfAShard(t *testing.T) {
	t.Parallel()
	events := []history.Event{
		{Kind: history.Started}, {Kind: history.Online, BoardID: "brd_a", PlaceID: "plc_a"}, {Kind: history.Online, BoardID: "brd_b", PlaceID: "plc_b"},
		{Kind: history.Intent, PlaceID: "plc_a", CommandID: "cmd_a"}, {Kind: history.Intent, PlaceID: "plc_b", CommandID: "cmd_b"},
		{Kind: history.Line, BoardID: "brd_a"}, {Kind: history.Line, BoardID: "brd_b"},
	}
	var kinds []string
	mine := newSieve(&Shard{Places: []string{"plc_a"}})
	for _, e := range events {
		if mine.keeps(&e) {
			kinds = append(kinds, e.Kind+" "+e.BoardID+e.CommandID)
		}
		if none := newSieve(nil); !none.keeps(&e) {
			t.Errorf("a run that isn't sharded leaves out %s, want every event", e)
		}
	}
	if got, want := strings.Join(kinds, ", "), "started , online brd_a, intent cmd_a, line brd_a"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
