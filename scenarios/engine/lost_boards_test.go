package engine

import (
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
)

// TestLostBoards: a file of the built-in suite that finds too few boards is SKIPPED in a world that is too small for it, and
// BLOCKED if the target has lost boards with which there would be enough. So is one that says how many it needs.
func TestLostBoards(t *testing.T) {
	t.Parallel()
	server := func(online bool, seen any, doors ...string) m {
		return m{"boardId": "brd_2", "name": "2", "online": online, "lastSeenAt": seen, "doorIds": doors, "channels": []int{1, 2}[:len(doors)]}
	}
	const seen = "2026-03-01T08:00:00.000Z"
	for name, c := range map[string]struct {
		hidden m
		taken  bool
		need   int
		want   judge.Status
	}{
		"a world of one board":                         {nil, false, 2, judge.Skipped},
		"the other went offline":                       {server(false, seen, "dor_3", "dor_4"), false, 2, judge.Blocked},
		"too few even with the other":                  {server(false, seen, "dor_3", "dor_4"), false, 3, judge.Skipped},
		"the other never connected":                    {server(false, nil, "dor_3", "dor_4"), false, 2, judge.Skipped},
		"the other is somebody's real one":             {server(true, seen, "dor_3", "dor_4"), false, 2, judge.Skipped},
		"the other has one door, which doesn't do":     {server(false, seen, "dor_3"), false, 2, judge.Skipped},
		"the only board is detached, and nothing came": {nil, true, 1, judge.Blocked},
	} {
		for kind, source := range map[string]string{
			"a cohort": "setup: [{cohort: {name: two, boards: N}}]\nsteps: [{call: {path: /echo}, expect: data.n == 3}]\n",
			"needs":    "needs: {boards: N}\nsteps: [{call: {path: /echo}, expect: data.n == 3}]\n",
		} {
			t.Run(name+", "+kind, func(t *testing.T) {
				t.Parallel()
				f := newFake(t)
				f.hidden, f.taken = c.hidden, c.taken
				file := parse(t, strings.ReplaceAll(source, "N", string(rune('0'+c.need))))
				file.BuiltIn = true
				if c.taken {
					f.online = func(int) bool { return false }
				}
				res := must.Get(Run(t.Context(), f.target(), []*File{file}, Options{}))(t)
				got := res.Files[0]
				if got.Status != c.want {
					t.Errorf("got %s %q, want %s", got.Status, got.Reason, c.want)
				}
				if told := strings.Contains(got.Reason, "1 more board would do but is offline (brd_"); told != (c.want == judge.Blocked) {
					t.Errorf("got %q, want the lost board named if BLOCKED", got.Reason)
				}
			})
		}
	}
}
