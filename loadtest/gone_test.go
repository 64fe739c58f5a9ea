package loadtest

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/must"
)

// mortal refuses all connections from a moment on, for a while or for good.
type mortal struct {
	memory
	dies, back time.Time // back zero: never
}

func (m mortal) RoundTrip(r *http.Request) (*http.Response, error) {
	if now := time.Now(); now.After(m.dies) && (m.back.IsZero() || now.Before(m.back)) {
		return nil, syscall.ECONNREFUSED
	}
	return m.memory.RoundTrip(r)
}

// TestTargetDies: a target that dies for good during a load makes it BLOCKED, with the exit code of an unreachable target,
// whatever its thresholds say. One that comes back is judged by them.
func TestTargetDies(t *testing.T) {
	t.Parallel()
	const plan = "rate: 20/s\nduration: 4s\nthresholds: {errors: "
	for name, c := range map[string]struct {
		plan    string
		back    time.Duration // after its death; 0 = never
		verdict string
		code    int
	}{
		"for good, with a threshold that breaks": {plan + "0}", 0, Blocked, 5},
		"for good, with one that allows it":      {plan + "90%}", 0, Blocked, 5},
		"for good, without a threshold":          {"rate: 20/s\nduration: 4s\n", 0, Blocked, 5},
		"for two seconds":                        {plan + "0}", 2 * time.Second, Fail, 99},
		"in a search":                            {"pacer: search\nrate: 10/s\nto: 80/s\nduration: 1s\nthresholds: {errors: 0}", 0, Blocked, 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				target, opts := bubble(f)
				via := mortal{memory: memory{f}, dies: time.Now().Add(2 * time.Second)}
				if c.back > 0 {
					via.back = via.dies.Add(c.back)
				}
				opts.transport, opts.OutDir = via, t.TempDir()
				res := must.Get(Run(t.Context(), target, mustParse(t, c.plan), opts))(t)
				if res.Verdict != c.verdict || res.ExitCode() != c.code {
					t.Errorf("got %s, exit %d, %q, want %s, exit %d", res.Verdict, res.ExitCode(), res.Reasons, c.verdict, c.code)
				}
				for _, th := range res.Thresholds { // that a dead process answers nothing breaks no limit
					if told := res.Said(th); c.code == 5 && len(res.Search) == 0 && (told.Word != "not judged" || told.Why != res.Gone) {
						t.Errorf("%s: got %q %q, want that it isn't judged: %s", th.Name, told.Word, told.Why, res.Gone)
					}
				}
				for _, file := range []string{"junit.xml", "report.tap"} {
					text := string(must.Get(os.ReadFile(filepath.Join(opts.OutDir, file)))(t))
					if failed := strings.Contains(text, "<failure") || strings.Contains(text, "not ok") && strings.Contains(text, "the limit is"); failed != (c.code == 99) {
						t.Errorf("%s: got a failed threshold: %t, want %t:\n%s", file, failed, c.code == 99, text)
					}
				}
				if limits := slices.ContainsFunc(res.Whys(), func(why string) bool { return strings.Contains(why, "the limit is") }); len(res.Search) == 0 && limits != (c.code == 99) {
					t.Errorf("got the reasons %q, want a broken limit among them: %t", res.Whys(), c.code == 99)
				}
				if first := strings.Join(res.Whys(), "\n"); c.code == 5 && (!strings.HasPrefix(first, "the target is gone: http://127.0.0.1:1 stopped answering during the run")) {
					t.Errorf("got the reasons %q, want first that the target is gone", first)
				}
			})
		})
	}
}

// busy leaves everything unanswered from a moment on.
type busy struct {
	memory
	from time.Time
}

func (b busy) RoundTrip(r *http.Request) (*http.Response, error) {
	if time.Now().After(b.from) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	return b.memory.RoundTrip(r)
}

// TestBusyTargetIsntGone: a target that lets everything time out, /livez too, may be overloaded: its thresholds are judged, and
// a note says how it was afterwards.
func TestBusyTargetIsntGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		target, opts := bubble(f)
		opts.transport, opts.OutDir = busy{memory{f}, time.Now().Add(2 * time.Second)}, t.TempDir()
		res := must.Get(Run(t.Context(), target, mustParse(t, "rate: 20/s\nduration: 4s\ntimeout: 2s\nthresholds: {errors: 0}"), opts))(t)
		if res.Verdict != Fail || res.ExitCode() != 99 || res.Gone != "" || res.Said(res.Thresholds[0]).Word != "BROKEN" {
			t.Errorf("got %s, exit %d, %q, gone %q, want FAIL, exit 99, because of its threshold", res.Verdict, res.ExitCode(), res.Reasons, res.Gone)
		}
		if !slices.ContainsFunc(res.Notes, func(n string) bool {
			return strings.HasPrefix(n, "after the last request, http://127.0.0.1:1 didn't answer GET /livez in time")
		}) {
			t.Errorf("got the notes %q, want one that it didn't answer in time", res.Notes)
		}
	})
}
