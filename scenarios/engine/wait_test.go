package engine

import (
	"net/http"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
)

// TestBackgroundInABackground: a step that a background step starts in the background goes on when that one has been waited
// for.
func TestBackgroundInABackground(t *testing.T) {
	t.Parallel()
	f, waited := newFake(t), make(chan bool)
	f.before(t, func(w http.ResponseWriter, r *http.Request) bool {
		switch r.URL.Path {
		case "/waited":
			close(waited)
			say(w, 200, m{"data": m{"n": 1}})
			return true
		case "/slow":
			<-waited
			say(w, 200, m{"data": m{"n": 2}})
			return true
		}
		return false
	})
	ends(t, f, `
steps:
  - {group: [{call: {path: /slow}, background: inner}], background: outer}
  - wait: outer
  - call: {path: /waited}
  - {wait: inner, expect: data.n == 2}
`, judge.Pass, "")
}

// TestWaitForASkippedStep: whoever waits for a step that was skipped has nothing to look at, and not what an earlier one
// of that name found, either.
func TestWaitForASkippedStep(t *testing.T) {
	t.Parallel()
	const skipped = `{set: {a: 1}}, {call: {path: /echo}, if: a == 2, background: b}`
	for name, c := range map[string]struct{ steps, want string }{
		"nothing expected":       {skipped + `, {wait: b, clauses: [CMD-1]}`, "SKIPPED"},
		"something":              {skipped + `, {wait: b, expect: status == 200}`, "SKIPPED"},
		"a var of the same name": {`{set: {b: 1}}, {call: {path: "/echo/${b}"}, background: b}, {wait: b, expect: data.n == 3}`, "PASS"},
		"of an earlier turn": {`{cases: [{go: 1}, {go: 2}], group: [{call: {path: /echo}, if: row.go == 1, background: b}, {wait: b, expect: data.n == 3}]}`,
			"PASS SKIPPED"},
		"of an earlier turn, by its name": {`{cases: [{go: 1}, {go: 2}], group: [{call: {path: /echo}, if: row.go == 1, background: b}, {wait: b}, {expect: b.data.n == 3}]}`,
			"PASS SKIPPED FAIL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res, out := play(t, newFake(t), "steps: ["+c.steps+"]", Options{})
			var got []string
			var see func(steps []*StepResult)
			see = func(steps []*StepResult) {
				for _, s := range steps {
					if s.Verb == "wait" || s.Verb == "" {
						got = append(got, string(s.Status))
						continue
					}
					see(s.Children)
				}
			}
			see(res.Files[0].Steps)
			if last := strings.Join(got, " "); !strings.HasSuffix(last, c.want) {
				t.Errorf("got %s, want it to end with %s\n%s", last, c.want, out)
			}
		})
	}
}
