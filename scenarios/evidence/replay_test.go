package evidence

import (
	"testing"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/scenarios/expression"
)

// TestReplayKeepsWhatIsUnaffected: with one set of other answers after another, a name is computed again only if one of them is
// behind it.
func TestReplayKeepsWhatIsUnaffected(t *testing.T) {
	t.Parallel()
	first, second := &source{env: map[string]any{"n": 1}}, &source{env: map[string]any{"n": 10}}
	runs := map[string]int{}
	named := func(name string, of *source, deps map[string]*given) *given {
		return &given{src: of, deps: deps, make: func(env map[string]any) (any, error) {
			runs[name]++
			return env["n"], nil
		}}
	}
	a, b := named("a", first, nil), named("b", second, nil)
	sum := &given{src: &source{env: map[string]any{}}, deps: map[string]*given{"a": a, "b": b, "again": named("again", second, map[string]*given{"b": b})},
		make: must.Get(expression.Compile("a + b + again"))(t).Run}
	r := newReplay()
	for _, n := range []int{2, 3, 4} {
		if got, err := r.value(sum, map[*source]map[string]any{first: {"n": n}}); got != n+20 || err != nil {
			t.Errorf("with another first answer: got %v, %v, want %d", got, err, n+20)
		}
	}
	if got, err := r.value(sum, map[*source]map[string]any{second: {"n": 5}}); got != 11 || err != nil {
		t.Errorf("with another second answer: got %v, %v, want 11", got, err)
	}
	if runs["a"] != 4 || runs["b"] != 2 || runs["again"] != 2 {
		t.Errorf("computed %v times, want a 4, b and again 2: once for answers as they were, and once for each other answer behind them", runs)
	}
}
