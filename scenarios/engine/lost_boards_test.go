package engine

import (
	"net/http"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
)

// TestLostBoards: a file of the built-in suite that finds too few boards is SKIPPED in a world that is too small for it, and
// BLOCKED if the target has lost boards with which there would be enough. So is one that says how many it needs, and one of the
// user's own that does, whichever files ran before it.
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
		"the other has one door, not two":              {server(false, seen, "dor_3"), false, 2, judge.Skipped},
		"the only board is detached, and nothing came": {nil, true, 1, judge.Blocked},
	} {
		for kind, source := range map[string]string{
			"a cohort": "setup: [{cohort: {name: two, boards: N}}]\nsteps: [{call: {path: /echo}, expect: data.n == 3}]\n",
			"needs":    "needs: {boards: N}\nsteps: [{call: {path: /echo}, expect: data.n == 3}]\n",
			"own file": "needs: {boards: N}\nsteps: [{call: {path: /echo}, expect: data.n == 3}]\n",
		} {
			t.Run(name+", "+kind, func(t *testing.T) {
				t.Parallel()
				f := newFake(t)
				f.hidden, f.taken = c.hidden, c.taken
				file := parse(t, strings.ReplaceAll(source, "N", string(rune('0'+c.need))))
				file.BuiltIn = kind != "own file"
				want := c.want
				if strings.Contains(name, "one door") && !file.BuiltIn { // any board does
					want = judge.Blocked
				}
				if c.taken {
					f.online = func(int) bool { return false }
				}
				res := must.Get(Run(t.Context(), f.target(), []*File{file}, Options{}))(t)
				got := res.Files[0]
				if got.Status != want {
					t.Errorf("got %s %q, want %s", got.Status, got.Reason, want)
				}
				if told := strings.Contains(got.Reason, "1 more board would do but is offline (brd_"); told != (want == judge.Blocked) {
					t.Errorf("got %q, want the lost board named if BLOCKED", got.Reason)
				}
			})
		}
	}
}

// TestLostBoardsOfCohort: a cohort that finds too few boards is BLOCKED only if the lost ones would fill it as it chooses them: by
// place, by share, and from another cohort.
func TestLostBoardsOfCohort(t *testing.T) {
	t.Parallel()
	const here, there = "", "plc_2"
	for cohorts, want := range map[string]map[string]judge.Status{
		"{cohort: {name: pair, places: 1, perPlace: 2}}":                                               {here: judge.Blocked, there: judge.Skipped},
		"{cohort: {name: two, places: 2, perPlace: 1}}":                                                {here: judge.Skipped, there: judge.Blocked},
		"{cohort: {name: two, boards: 2}}":                                                             {here: judge.Blocked, there: judge.Blocked},
		"{cohort: {name: half, share: 50%, atLeast: 2}}":                                               {here: judge.Skipped, there: judge.Skipped},
		"{cohort: {name: half, part: 1/2, atLeast: 2}}":                                                {here: judge.Skipped, there: judge.Skipped},
		"{cohort: {name: home, places: 1}}, {cohort: {name: two, from: home, boards: 2}}":              {here: judge.Blocked, there: judge.Skipped},
		"{cohort: {name: one, boards: 1}}, {cohort: {name: more, except: one, boards: 1}}":             {here: judge.Blocked, there: judge.Blocked},
		"{cohort: {name: one, boards: 1}}, {cohort: {name: more, from: one, except: one, boards: 1}}":  {here: judge.Blocked, there: judge.Skipped},
		"{cohort: {name: one, boards: 1}}, {cohort: {name: three, from: one, places: 1, perPlace: 3}}": {here: judge.Skipped, there: judge.Skipped},
	} {
		for at, want := range want {
			t.Run(cohorts+" "+at, func(t *testing.T) {
				t.Parallel()
				f := newFake(t)
				f.hidden, f.hiddenAt = wentOffline(), at
				target := f.target()
				target.Places = append(target.Places, Place{PlaceID: "plc_2", Name: "Other", Kind: "live", APIKey: fakeKey})
				file := parse(t, "setup: ["+cohorts+"]\nsteps: [{call: {path: /echo, place: plc_1}, expect: data.n == 3}]\n")
				file.BuiltIn = true
				got := must.Get(Run(t.Context(), target, []*File{file}, Options{}))(t).Files[0]
				if told := strings.Contains(got.Reason, "1 more board would do but is offline (brd_2)"); got.Status != want || told != (want == judge.Blocked) {
					t.Errorf("got %s %q, want %s, and the lost board named if BLOCKED", got.Status, got.Reason, want)
				}
				if !strings.Contains(got.Reason, "the target has ") {
					t.Errorf("got %q, want it to say how many boards the target has", got.Reason)
				}
			})
		}
	}
}

// TestLostBoardsUnread: a place whose key may not read the boards isn't asked for lost ones. If the server can't say, the file
// is BLOCKED.
func TestLostBoardsUnread(t *testing.T) {
	t.Parallel()
	const exchange, boards = "/core/v1/auth/apikey/token", "/device/v1/boards"
	for name, c := range map[string]struct {
		path   string
		status int // 0 = no answer
		want   judge.Status
	}{
		"the key lacks the scope":    {boards, 403, judge.Skipped},
		"the key was revoked":        {exchange, 401, judge.Skipped},
		"the key may not be used":    {exchange, 403, judge.Skipped},
		"the server fails":           {boards, 500, judge.Blocked},
		"the server is restarting":   {exchange, 503, judge.Blocked},
		"the server doesn't answer":  {boards, 0, judge.Blocked},
		"the server knows no boards": {boards, 404, judge.Blocked},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.hidden = wentOffline()
			f.before(t, func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != c.path {
					return false
				}
				if c.status == 0 {
					panic(http.ErrAbortHandler)
				}
				say(w, c.status, m{"error": "refused", "message": "no", "statusCode": c.status, "reason": "refused", "detail": "no"})
				return true
			})
			file := parse(t, "needs: {boards: 2}\nsteps: [{call: {path: /echo}, expect: data.n == 3}]\n")
			file.BuiltIn = true
			got := must.Get(Run(t.Context(), f.target(), []*File{file}, Options{}))(t).Files[0]
			if unread := strings.Contains(got.Reason, "can't be read"); got.Status != c.want || unread != (c.want == judge.Blocked) {
				t.Errorf("got %s %q, want %s, and why if BLOCKED", got.Status, got.Reason, c.want)
			}
		})
	}
}

// wentOffline is a board that the server has seen and no listener shows.
func wentOffline() m {
	return m{"boardId": "brd_2", "name": "2", "online": false, "lastSeenAt": "2026-03-01T08:00:00.000Z", "doorIds": []string{"dor_3", "dor_4"}, "channels": []int{1, 2}}
}
