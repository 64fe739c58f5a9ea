package engine

import (
	"bytes"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
)

// TestBetweenTwoLives: while the server restarts, nobody answers. Steps that wait or watch go on, and what changes
// something is asked again; a single look, or a step that ends before the server is back, is BLOCKED.
func TestBetweenTwoLives(t *testing.T) {
	t.Parallel()
	const restart = `{control: {method: POST, path: /restart}}, `
	for name, c := range map[string]struct {
		away   int // requests that get no answer
		step   string
		want   judge.Status
		reason string
	}{
		"synced waits":               {3, `{synced: {}, within: 60s}`, judge.Pass, ""},
		"synced, for longer":         {6, `{synced: {}, within: 50ms}`, judge.Blocked, "the server is restarting"},
		"within tries again":         {3, `{boards: {all: online}, within: 60s}`, judge.Pass, ""},
		"within, for longer":         {6, `{boards: {all: online}, within: 50ms}`, judge.Blocked, "the server is restarting"},
		"a look that isn't answered": {1, `{boards: {all: online}}`, judge.Blocked, "the server is restarting"},
		"a fault is armed later":     {2, `{fault: {fault: slow, name: late, of: brd_1}}, {boards: {all: online}}`, judge.Pass, ""},
		"a membership comes later":   {2, `{membership: {person: ann, place: plc_1}}, {boards: {all: online}}`, judge.Pass, ""},
		"never looks again":          {2, `{boards: {}, expect: count == 7, never: 5s}`, judge.Pass, ""},
		"never, for longer":          {6, `{boards: {}, expect: count == 7, never: 50ms}`, judge.Blocked, "the server is restarting"},
		"never, and it comes true":   {2, `{boards: {}, expect: count == 1, never: 60s}`, judge.Fail, "came true"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.away = c.away
			ends(t, f, "steps: ["+restart+c.step+"]", c.want, c.reason)
		})
	}
}

// TestUnsureIsNotRepeated: what may have been done already, because the storage only answered too late, isn't asked again.
func TestUnsureIsNotRepeated(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.away, f.unsure = 1, true
	ends(t, f, "steps: [{control: {method: POST, path: /restart}}, {membership: {person: ann, place: plc_1}}, {boards: {all: online}}]", judge.Blocked, "503")
	if n := f.asked("POST /memberships"); n != 1 {
		t.Errorf("asked %d times, want once", n)
	}
}

// TestGoneAlready: what a file created on a shared target needs no cleanup if it no longer exists at the end.
func TestGoneAlready(t *testing.T) {
	t.Parallel()
	for _, gone := range []bool{true, false} {
		f := newFake(t)
		f.ended = map[string]bool{"/reservations/rsv_1": gone}
		target := f.target()
		target.Marks = []history.Position{{}}
		var out bytes.Buffer
		res, err := Run(t.Context(), target, []*File{parse(t, `
setup: [{cohort: {name: c}}]
steps: [{reservation: {person: ann, place: c}}, {permit: {person: bob, place: c}}, {call: {path: /echo}, expect: data.n == 3}]`)}, Options{Progress: &out})
		if err != nil || res.Trouble != "" || f.asked("DELETE /reservations/rsv_1") != 1 || f.asked("/entry-permits/revoke") != 1 {
			t.Errorf("gone=%v: %v, trouble %q, asked %d and %d times; want none, each asked once\n%s",
				gone, err, res.Trouble, f.asked("DELETE /reservations/rsv_1"), f.asked("/entry-permits/revoke"), &out)
		}
	}
}
