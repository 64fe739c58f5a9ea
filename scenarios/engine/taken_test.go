package engine

import (
	"context"
	"slices"
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/loadtest"
)

// TestTaken: load spares the doors of a board that the file has taken over, and the file may still connect as it.
func TestTaken(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.broker = echo(t)
	var spared []string
	load := func(_ context.Context, _ loadtest.Target, _ loadtest.Plan, opt loadtest.Options) (loadtest.Result, error) {
		spared = opt.Spare
		return loadtest.Result{Verdict: loadtest.Pass, SentRate: 1, Sent: 1}, nil
	}
	res, out := play(t, f, `
steps:
  - mqtt: {board: brd_1}
  - load: {rate: 1/s, duration: 1s}
  - mqtt: {board: brd_1}
  - mqtt: {send: x, payload: {n: 1}, await: ack}
    expect: payload.n == 1
`, Options{Loader: load})
	if got := res.Files[0]; got.Status != judge.Pass || !slices.Equal(spared, []string{"dor_1", "dor_2"}) {
		t.Errorf("got %s %q, spared %v; want PASS and the doors of brd_1 spared\n%s", got.Status, got.Reason, spared, out)
	}
}

// TestLoadOfACohort: a built-in plan by its name, at another rate, for the doors of some boards.
func TestLoadOfACohort(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.hidden = m{} // nothing but brd_1
	var sent loadtest.Plan
	var spared []string
	load := func(_ context.Context, target loadtest.Target, p loadtest.Plan, opt loadtest.Options) (loadtest.Result, error) {
		sent, spared = p, opt.Spare
		return loadtest.Result{Verdict: loadtest.Pass, SentRate: 1, Sent: int64(len(target.Places))}, nil
	}
	res, out := play(t, f, `
setup:
  - cohort: {name: all}
steps:
  - load: {plan: hot-door, rate: 7/s, of: all, minRate: 1}
    expect: sent == 1
`, Options{Loader: load})
	if got := res.Files[0]; sent.Name != "hot-door" || sent.Rate != 7 || sent.Doors != "zipf" || len(spared) != 0 {
		t.Errorf("got %s %q, plan %+v, spared %v; want hot-door at 7/s, and no door spared\n%s", got.Status, got.Reason, sent, spared, out)
	}
	d := &directory{boards: map[string]*boardInfo{"a": {id: "a", placeID: "p", doors: []string{"a1", "a2"}}, "b": {id: "b", placeID: "q", doors: []string{"b1"}}}}
	places, spare := d.only([]Place{{PlaceID: "p"}, {PlaceID: "q"}}, []*boardInfo{{id: "b", placeID: "q"}}, []string{"b1"})
	if len(places) != 1 || places[0].PlaceID != "q" || !slices.Equal(spare, []string{"b1", "a1", "a2"}) {
		t.Errorf("a load of b: at %v without %v, want at q without b1, a1 and a2", places, spare)
	}
}
