package engine

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/capture"
	"github.com/doorlab/doorlab/internal/judge"
)

// TestDisplay: the line shows the progress of the run, what is being played, what it waits for and for how much
// longer, and roughly how long the rest will take. On a terminal it is updated at least every two seconds. Messages
// from files appear above it.
func TestDisplay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var b capture.Text
		d := newDisplay(&Options{Progress: &b, Terminal: true, Width: func() int { return 200 }, Metrics: NewMetrics()}, 7)
		shows := func(want string) {
			t.Helper()
			b.Reset()
			time.Sleep(time.Second)
			synctest.Wait()
			if lines := strings.Split(b.String(), "\r\x1b[2K"); lines[len(lines)-1] != want {
				t.Errorf("got %q, want %q", lines[len(lines)-1], want)
			}
		}
		for _, f := range []string{"a", "b", "c", "d", "e"} {
			d.start(f)
		}
		act, end := d.step("a", "synced")
		_, other := d.step("b", "elsewhere")
		d.may(act, 30*time.Second)
		shows("0 of 7 run, 0 passed, 1 s: a: synced, 1 s of at most 30 s (and 4 more)")
		end()
		other()
		d.done("a", judge.Fail, []byte("FAIL a\n"))
		if !strings.HasSuffix(b.String(), "\r\x1b[2KFAIL a\n") {
			t.Errorf("got %q, want the failure above the line", b.String())
		}
		d.done("b", judge.Pass, nil)
		_, end = d.step("c", "open shop")
		shows("2 of 7 run, 1 passed, 2 s: c: open shop, 1 s (and 2 more)")
		end()
		time.Sleep(time.Minute)
		d.done("c", judge.Skipped, nil)
		shows("3 of 7 run, 1 passed, 1 skipped, 1 m 3 s, about 1 m 24 s left: d (and 1 more)")
		d.start("f")
		d.start("g") // the last: how long the others took no longer matters
		shows("3 of 7 run, 1 passed, 1 skipped, 1 m 4 s: d (and 3 more)")
		d.finally("judging")
		shows("3 of 7 run, 1 passed, 1 skipped, 1 m 5 s: judging")
		d.End()
		if !strings.HasSuffix(b.String(), "\r\x1b[2K") {
			t.Errorf("got %q, want nothing left behind", b.String())
		}
	})
}
