package engine

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/judge"
)

// TestDisplay: a log gets a line every 15 s, a terminal one line that is drawn over
// and gone in the end. What files have to say stands above it.
func TestDisplay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		terminal bool
		want     string
	}{
		"log": {false, "0 of 7 played, 0 passed, 15 s: a, b, c, and 2 more\n" + "FAIL a\n" + "2 of 7 played, 1 passed, 30 s: c, d, e\n"},
		"terminal": {true, "\r\x1b[2K0 of 7 played, 0 passed, 15 s: a, b, c, and 2 more" + "\r\x1b[2KFAIL a\n" +
			"\r\x1b[2K2 of 7 played, 1 passed, 30 s: c, d, e" + "\r\x1b[2K"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var b strings.Builder
				d := newDisplay(&b, c.terminal, 7)
				for _, f := range []string{"a", "b", "c", "d", "e"} {
					d.start(f)
				}
				upTo := func(at time.Duration) { // only the last drawing before it counts
					time.Sleep(at - time.Millisecond)
					synctest.Wait()
					if c.terminal {
						text := b.String()
						kept := text[:strings.LastIndex(text, "\n")+1]
						last := text[strings.LastIndex(text, "\r\x1b[2K"):]
						b.Reset()
						b.WriteString(kept + last)
					}
				}
				upTo(15*time.Second + 2*time.Millisecond)
				d.done("a", judge.Fail, []byte("FAIL a\n"))
				d.done("b", judge.Pass, nil)
				upTo(15 * time.Second)
				d.end()
				time.Sleep(time.Minute)
				synctest.Wait()
				if got := b.String(); got != c.want {
					t.Errorf("got %q, want %q", got, c.want)
				}
			})
		})
	}
}

// TestSilentDisplay: without a writer nothing is drawn.
func TestSilentDisplay(t *testing.T) {
	t.Parallel()
	d := newDisplay(nil, true, 1)
	d.start("a")
	d.done("a", judge.Fail, []byte("x"))
	d.end()
}
