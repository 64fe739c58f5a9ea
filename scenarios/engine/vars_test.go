package engine

import (
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
)

// TestVarsInOrder: a value may use names above it, whatever they are called, and a name that is overridden needs no value.
func TestVarsInOrder(t *testing.T) {
	t.Parallel()
	const limit = `vars: {limit: 3, cut: "${limit + 1}"}` + "\n"
	for name, c := range map[string]struct {
		file   string
		given  map[string]string
		want   judge.Status
		reason string
	}{
		"a name above":            {limit + `steps: [{call: {path: /echo}, expect: data.n + 1 == cut}]`, nil, judge.Pass, ""},
		"a name that is given":    {limit + `steps: [{call: {path: /echo}, expect: data.n + 1 == cut}]`, map[string]string{"limit": "4"}, judge.Fail, "cut = 5"},
		"a name below":            {`{vars: {cut: "${limit}", limit: 3}, steps: [{call: {path: /echo}, expect: data.n == cut}]}`, nil, judge.Blocked, "var cut: limit has no value yet: write it above"},
		"given instead":           {`{vars: {cut: "${limit}", limit: 3}, steps: [{call: {path: /echo}, expect: data.n == cut}]}`, map[string]string{"cut": "3"}, judge.Pass, ""},
		"a name above it in set":  {`steps: [{set: {b: 3, a: "${b}"}}, {call: {path: /echo}, expect: data.n == a}]`, nil, judge.Pass, ""},
		"on the lines of the set": {"steps:\n  - set:\n      b: 3\n      a: \"${b}\"\n  - {call: {path: /echo}, expect: data.n == a}", nil, judge.Pass, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res, out := play(t, newFake(t), c.file, Options{Vars: c.given})
			if got := res.Files[0]; got.Status != c.want || !strings.Contains(got.Reason, c.reason) {
				t.Errorf("got %s %q, want %s %q\n%s", got.Status, got.Reason, c.want, c.reason, out)
			}
		})
	}
}
