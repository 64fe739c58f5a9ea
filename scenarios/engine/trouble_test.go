package engine

import (
	"bytes"
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/report"
	"github.com/doorlab/doorlab/loadtest"
)

// TestUnreachable: a target that can't be reached gets no verdict.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	target := f.target()
	f.api.Close()
	res, err := Run(t.Context(), target, []*File{parse(t, "steps: [{log: a}]")}, Options{Wait: 1})
	if err != nil || !res.Unreached || res.ExitCode() != 5 || !strings.HasPrefix(res.Reason, "the target is unreachable: ") {
		t.Errorf("got %+v, %v, want an unreached target and exit 5", res, err)
	}
}

// TestTargetDies: a target that dies for good is waited for once; the files that are left aren't played.
func TestTargetDies(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	target := f.target()
	target.Marks = []history.Position{{}}
	load := func(context.Context, loadtest.Target, loadtest.Plan, loadtest.Options) (loadtest.Result, error) {
		f.api.Close()
		f.lab.Close()
		return loadtest.Result{}, errors.New("connection refused")
	}
	files := []*File{parse(t, "steps: [{load: {rate: 1/s, duration: 1s}}]"), parse(t, "steps: [{log: a}]"), parse(t, "steps: [{log: b}]")}
	res := must.Get(Run(t.Context(), target, files, Options{Loader: load, revive: 1}))(t)
	if res.Status != judge.Blocked || res.ExitCode() != 5 || !res.Unreached || !strings.Contains(res.Reason, "the target is gone: "+target.HTTP+" stopped answering") {
		t.Errorf("got %s, exit %d, %q, want BLOCKED, exit 5 and that the target is gone", res.Status, res.ExitCode(), res.Reason)
	}
	for _, left := range res.Files[1:] {
		if left.Status != judge.Skipped || !strings.HasPrefix(left.Reason, report.NotRun+"the target hasn't answered for") {
			t.Errorf("got %s %q for a file that is left, want it not run", left.Status, left.Reason)
		}
	}
}

// TestBoardsDie: once the boards' process is gone, what a file finds wrong says nothing of the server, so it is BLOCKED.
func TestBoardsDie(t *testing.T) {
	t.Parallel()
	const file = "steps: [{load: {rate: 1/s, duration: 1s}}, {call: {path: /echo, place: \"\\\"plc_1\\\"\"}, expect: data.n == 99}]"
	for name, c := range map[string]struct {
		dies bool
		want judge.Status
		exit int
	}{
		"it dies":  {true, judge.Blocked, 5},
		"it lives": {false, judge.Fail, 4},
	} {
		_, fleet, target := twoFakes(t, 0)
		target.Marks = []history.Position{{}, {}}
		load := func(context.Context, loadtest.Target, loadtest.Plan, loadtest.Options) (loadtest.Result, error) {
			if c.dies {
				fleet.lab.Close()
			}
			return loadtest.Result{}, nil
		}
		res := must.Get(Run(t.Context(), target, []*File{parse(t, file)}, Options{Loader: load, revive: 1}))(t)
		why := "the boards' process at " + fleet.lab.URL + " stopped answering while this file was played"
		if f := res.Files[0]; f.Status != c.want || res.ExitCode() != c.exit || strings.Contains(f.Reason, why) != c.dies {
			t.Errorf("%s: the file is %s (%s), exit code %d; want %s and %d", name, f.Status, f.Reason, res.ExitCode(), c.want, c.exit)
		}
	}
}

// TestInterrupted: a cancelled run stops where it is and says so.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	ctx, cancel := context.WithCancel(t.Context())
	load := func(ctx context.Context, _ loadtest.Target, _ loadtest.Plan, _ loadtest.Options) (loadtest.Result, error) {
		cancel()
		<-ctx.Done()
		return loadtest.Result{}, ctx.Err()
	}
	res, err := Run(ctx, f.target(), []*File{parse(t, "steps: [{load: {rate: 1/s, duration: 1s}}, {log: never}]"), parse(t, "steps: [{log: a}]")}, Options{Loader: load})
	if !errors.Is(err, context.Canceled) || len(res.Files) != 2 || res.Files[0].Status != judge.Invalid || res.Files[1].Status != judge.Skipped {
		t.Errorf("%v %+v, want the first file INVALID and the second one not run", err, res.Files)
	}
}

// TestSeveralClocks: a target of several processes is frozen at one common moment, the first whole millisecond that
// no clock has passed.
func TestSeveralClocks(t *testing.T) {
	t.Parallel()
	f, ahead, target := twoFakes(t, 7*time.Millisecond)
	var out bytes.Buffer
	res, err := Run(t.Context(), target, []*File{parse(t, `
steps:
  - clock: freeze
  - mark: a
  - clock: {to: a}
    expect: now == "2026-03-01T09:00:00.008Z" and now == at("a")
  - call: {path: /echo}
`)}, Options{Progress: &out})
	if err != nil || res.Files[0].Status != judge.Pass || !f.now.Equal(ahead.now) {
		t.Fatalf("got %v, clocks at %s and %s; want no error, a PASS and the same time\n%s", err, f.now, ahead.now, &out)
	}
}

// TestSettledBeforeAJump: with several processes, each reports that nothing is in flight before any of them jumps.
func TestSettledBeforeAJump(t *testing.T) {
	t.Parallel()
	f, other, target := twoFakes(t, 0)
	res, err := Run(t.Context(), target, []*File{parse(t, "steps: [{clock: {advance: 1h}}, {call: {path: /echo, place: \"\\\"plc_1\\\"\"}, expect: data.n == 3}]")}, Options{})
	if err != nil || res.Files[0].Status != judge.Pass {
		t.Fatalf("%v, %s %s; want it to pass", err, res.Files[0].Status, res.Files[0].Reason)
	}
	for name, fake := range map[string]*fake{"the server": f, "the fleet": other} {
		var moves []string
		for _, c := range fake.calls {
			if strings.HasSuffix(c, "/clock/settle") || strings.HasSuffix(c, "/clock/advance") {
				moves = append(moves, path.Base(c))
			}
		}
		if got, want := strings.Join(moves, " "), "settle advance settle advance"; got != want { // one in the file, one before judging
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

// TestWithoutControl: on a deployment without a control API, files that need no board run and the others are skipped.
func TestWithoutControl(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	target := f.target()
	target.Control = nil
	files := []*File{parse(t, `steps: [{call: {path: /echo, place: "\"plc_1\""}, expect: data.n == 3}]`), parse(t, `steps: [{boards: {}}]`)}
	res, err := Run(t.Context(), target, files, Options{})
	if err != nil || res.Files[0].Status != judge.Pass || res.Files[1].Status != judge.Skipped {
		t.Errorf("got %s and %s (%s), %v, want PASS and SKIPPED", res.Files[0].Status, res.Files[1].Status, res.Files[1].Reason, err)
	}
}

// TestClockElsewhere: with keys only, files aren't played against a target whose clock is far off, because what it would
// answer says nothing about it. A small difference is no reason, nor is any with a control listener, which tells the time.
func TestClockElsewhere(t *testing.T) {
	t.Parallel()
	const file = `steps: [{call: {path: /echo, place: "\"plc_1\""}, expect: data.n == 3}]`
	for by, want := range map[time.Duration]string{
		0: "", 5 * time.Minute: "", -5 * time.Minute: "", 72 * time.Hour: "ahead of this machine's", -72 * time.Hour: "behind this machine's",
	} {
		for _, control := range []bool{false, true} {
			f := newFake(t)
			target := f.target()
			if target.Ahead = by; !control {
				target.Control = nil
			}
			res := must.Get(Run(t.Context(), target, []*File{parse(t, file)}, Options{}))(t)
			got := res.Files[0]
			if blocked := want != "" && !control; blocked != (got.Status == judge.Blocked) || blocked != (f.asked("/echo") == 0) || blocked && !strings.Contains(got.Reason, want) {
				t.Errorf("%s off, control listener %t: got %s (%s), want it blocked: %t", by, control, got.Status, got.Reason, blocked)
			}
		}
	}
}

// TestBoardsUnreadOnce: with keys only, a failed read of a place's boards is made again for the next file.
func TestBoardsUnreadOnce(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.unread = 1
	target := f.target()
	target.Control = nil
	const file = `{needs: {boards: 1}, steps: [{call: {path: /echo, place: "\"plc_1\""}, expect: data.n == 3}]}`
	res, err := Run(t.Context(), target, []*File{parse(t, file), parse(t, file)}, Options{})
	if err != nil || res.Files[0].Status != judge.Blocked || res.Files[1].Status != judge.Pass {
		t.Errorf("got %v, %s and %s (%s), want BLOCKED and PASS", err, res.Files[0].Status, res.Files[1].Status, res.Files[1].Reason)
	}
}

// TestAgainWithoutControl: a second check of somebody else's deployment uses new names again, and waits if the first
// run used up the exchange limit.
func TestAgainWithoutControl(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.limited = 1
	target := f.target()
	target.Control = nil
	const exchange = `{call: {path: /core/v1/auth/apikey/token, token: "", body: {key: x}, status: 200}}`
	file := `steps: [` + exchange + `, {call: {path: '/echo/${uid("ann")}', place: "\"plc_1\""}, expect: data.n == 3}]`
	for range 2 {
		var out bytes.Buffer
		res, err := Run(t.Context(), target, []*File{parse(t, file)}, Options{Progress: &out})
		if err != nil || res.Files[0].Status != judge.Pass {
			t.Errorf("got %s, %v, want PASS\n%s", res.Files[0].Status, err, &out)
		}
	}
	refs := map[string]bool{}
	for _, c := range f.calls {
		if _, ref, found := strings.Cut(c, "/echo/"); found {
			refs[ref] = true
		}
	}
	if len(refs) != 2 {
		t.Errorf("two runs used the references %v, want one each", refs)
	}
}

// TestObjectInAPath: a path with a cohort in it is never sent.
func TestObjectInAPath(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	res, out := play(t, f, `steps: [{cohort: {name: one}}, {control: {path: "/boards/${one}"}}]`, Options{})
	if got := res.Files[0]; got.Status != judge.Blocked || !strings.Contains(got.Reason, "name one of its fields") || f.asked("/boards/{") > 0 {
		t.Errorf("got %s %q, want BLOCKED and what to write instead\n%s", got.Status, got.Reason, out)
	}
}

// TestAttachedFirst: on a shared target a board that was detached or told things is attached before anything else is put
// back, which may need the board. Attaching empties one that was told things, so its outage policy is put back afterwards.
func TestAttachedFirst(t *testing.T) {
	t.Parallel()
	for _, away := range []string{"detach", "tell"} {
		f := newFake(t)
		target := f.target()
		target.Marks = []history.Position{{}}
		res, err := Run(t.Context(), target, []*File{parse(t, `
setup: [{cohort: {name: c}}]
steps: [{control: {method: POST, path: /boards/brd_1/`+away+`, body: {}}}, {permit: {person: bob, place: c}}, {call: {path: /echo}, expect: data.n == 3}]`)}, Options{})
		attached := slices.Index(f.calls, "POST /boards/brd_1/attach")
		last := func(end string) (at int) {
			for i, c := range f.calls {
				if strings.HasSuffix(c, end) {
					at = i
				}
			}
			return at
		}
		if err != nil || res.Trouble != "" || attached < 0 || last("/entry-permits/revoke") < attached {
			t.Errorf("%s: %v, trouble %q%s: attached at %d, revoked at %d; want no error, both, in this order", away, err, res.Trouble, res.Files[0].Reason, attached, last("/entry-permits/revoke"))
		}
		if stored := last("/netloss"); (stored > attached) != (away == "tell") {
			t.Errorf("%s: attached at %d, outage policy stored at %d; want it afterwards if the board was told things", away, attached, stored)
		}
	}
}

// TestAttachedAfterFailure: a call that fails may have begun to tell a board things, so the board is attached all the same;
// a real one is left alone.
func TestAttachedAfterFailure(t *testing.T) {
	t.Parallel()
	for board, want := range map[string]bool{"brd_1": true, "brd_r": false} {
		f := newFake(t)
		f.deaf, f.real = true, true
		target := f.target()
		target.Marks = []history.Position{{}}
		res, err := Run(t.Context(), target, []*File{parse(t, `steps: [{control: {method: POST, path: /boards/`+board+`/tell, body: {}, status: 409}}]`)}, Options{})
		if attached := slices.Contains(f.calls, "POST /boards/"+board+"/attach"); err != nil || attached != want {
			t.Errorf("%s: %v %s, attached: %v, want %v", board, err, res.Files[0].Reason, attached, want)
		}
	}
}

// TestTogether: a file that needs server and boards in one process is skipped if they aren't.
func TestTogether(t *testing.T) {
	t.Parallel()
	one := newFake(t)
	_, _, apart := twoFakes(t, 0)
	for name, c := range map[string]struct {
		target Target
		want   judge.Status
	}{"in one process": {one.target(), judge.Pass}, "apart": {apart, judge.Skipped}} {
		res, err := Run(t.Context(), c.target, []*File{parse(t, `{needs: {together: true}, steps: [{call: {path: /echo}, expect: data.n == 3}]}`)}, Options{})
		if err != nil || res.Files[0].Status != c.want || c.want == judge.Skipped && !strings.Contains(res.Files[0].Reason, "needs server and boards in one process") {
			t.Errorf("%s: %v, %s %q, want %s", name, err, res.Files[0].Status, res.Files[0].Reason, c.want)
		}
	}
}
