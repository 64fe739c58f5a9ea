package engine

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/loadtest"
)

// TestCutShort: a step that was interrupted while its time wasn't over has shown nothing. Neither its clause nor the run
// fails, and something that must never hold wasn't watched to the end.
func TestCutShort(t *testing.T) {
	t.Parallel()
	const load = `load: {rate: 1/s, duration: 1s}`
	for name, c := range map[string]struct {
		steps string
		want  judge.Status // of the guarantee
	}{
		"within":                   {load + `, expect: sent == 5, within: 90s, clauses: [CMD-1]`, judge.Blocked},
		"within, inside a group":   {`group: [{` + load + `, expect: sent == 5, clauses: [CMD-1]}], within: 90s`, judge.Blocked},
		"within, a clause its own": {load + `, expect: [{that: sent == 5, clauses: [CMD-1]}], within: 90s`, judge.Blocked},
		"never":                    {load + `, expect: sent == 5, never: 90s, clauses: [CMD-1]`, judge.Blocked},
		"without a limit":          {load + `, expect: sent == 5, clauses: [CMD-1]`, judge.Fail},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res, out := interrupted(t, "steps: [{"+c.steps+"}]")
			row := slices.IndexFunc(res.Ledger, func(r judge.Row) bool { return r.Clause == "CMD-1" })
			if got := res.Ledger[row].Status; got != c.want {
				t.Errorf("CMD-1 is %s, want %s\n%s", got, c.want, out)
			}
			if f := res.Files[0]; f.Status != judge.Invalid || (res.Status == judge.Fail) != (c.want == judge.Fail) {
				t.Errorf("the file is %s (%s), the run %s; want INVALID and a FAIL only with its guarantee", f.Status, f.Reason, res.Status)
			}
			if c.want == judge.Blocked && !strings.Contains(out.String(), "cut short after") {
				t.Errorf("got %s\nwant the step to say that it was cut short", out)
			}
		})
	}
}

// TestFailedBeforeCutShort: what a step found before the file was interrupted still counts; what the interruption broke
// is what was in progress.
func TestFailedBeforeCutShort(t *testing.T) {
	t.Parallel()
	const wrong, hang = `{call: {path: /nowhere}, continue: true}`, `{load: {rate: 1/s, duration: 1s}, within: 90s, expect: sent == 5}`
	for name, c := range map[string]struct {
		steps, reason string
		want          judge.Status
	}{
		"failed, then a load":            {wrong + ", " + hang, "expected a success, found 404", judge.Fail},
		"failed in a group":              {`{group: [` + wrong + ", " + hang + `]}`, "expected a success, found 404", judge.Fail},
		"failed in a row":                {`{cases: [/nowhere, /echo], call: {path: "${row}"}, continue: true}, ` + hang, "expected a success, found 404", judge.Fail},
		"failed in a try":                {`{group: [` + wrong + ", " + hang + `], within: 90s}`, "interrupted; in progress: one.yaml:", judge.Invalid},
		"blocked, then a load":           {`{call: {path: /echo}, expect: data.nope == nil, continue: true}, ` + hang, "interrupted; in progress: one.yaml:1: load", judge.Invalid},
		"nothing wrong before":           {`{call: {path: /echo}}, ` + hang, "interrupted; in progress: one.yaml:1: load", judge.Invalid},
		"failed while interrupted":       {`{load: {rate: 1/s, duration: 1s}, expect: sent == 5}`, "interrupted; in progress", judge.Invalid},
		"failed beside one still to end": {`{pause: 90s, background: b}, {call: {path: /nowhere}, continue: true}, ` + hang + `, {wait: b}`, "expected a success, found 404", judge.Fail},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res, out := interrupted(t, "steps: ["+c.steps+"]")
			if f := res.Files[0]; f.Status != c.want || !strings.Contains(f.Reason, c.reason) {
				t.Errorf("got %s %q, want %s %q\n%s", f.Status, f.Reason, c.want, c.reason, out)
			}
		})
	}
}

// interrupted plays a scenario whose load step ends as the run is interrupted.
func interrupted(t *testing.T, source string) (Result, *bytes.Buffer) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	loader := func(context.Context, loadtest.Target, loadtest.Plan, loadtest.Options) (loadtest.Result, error) {
		cancel()
		return loadtest.Result{}, nil
	}
	out := &bytes.Buffer{}
	res, _ := Run(ctx, newFake(t).target(), []*File{parse(t, source)}, Options{Loader: loader, Progress: out})
	return res, out
}

// TestInterruptedWhileABoardIsAway: on a target that others use, an interrupted run doesn't wait a minute for a board to come
// back, because its results would be lost by then. One that couldn't begin has nothing to put back, and doesn't wait at all.
func TestInterruptedWhileABoardIsAway(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		atOnce  bool // before anything was played
		resets  int
		trouble string
	}{
		"in a step":     {false, 3, "the target could not be put back as it was: the run was interrupted before every board was back"},
		"at the outset": {true, 2, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			f, away := newFake(t), atomic.Int64{} // since when
			f.online = func(int) bool {
				if c.atOnce && slices.Contains(f.calls, "POST /faults/reset") && away.CompareAndSwap(0, int64(clock.Mono())) {
					cancel()
				}
				since := time.Duration(away.Load())
				return since == 0 || clock.Mono()-since > 2*leaveSoon // a slow machine begins to wait late
			}
			loader := func(context.Context, loadtest.Target, loadtest.Plan, loadtest.Options) (loadtest.Result, error) {
				away.Store(int64(clock.Mono()))
				cancel()
				return loadtest.Result{}, nil
			}
			target := f.target()
			target.Marks = []history.Position{{}}
			res, _ := Run(ctx, target, []*File{parse(t, "steps: [{load: {rate: 1/s, duration: 1s}}]")}, Options{Loader: loader})
			if n := f.asked("POST /faults/reset"); n != c.resets {
				t.Errorf("the target was brought to rest %d times, want %d", n, c.resets)
			}
			if res.Trouble != c.trouble || clock.Mono()-time.Duration(away.Load()) > 40*time.Second {
				t.Errorf("the run took %s, and its trouble is %q; want at most 40s, and %q", clock.Mono()-time.Duration(away.Load()), res.Trouble, c.trouble)
			}
		})
	}
}
