package live

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestLine: on a terminal there is one line that is redrawn, cut to the width, and removed at the end; a log gets a
// line now and then. Other output appears above the line.
func TestLine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		screen Screen
		want   string
	}{
		"terminal": {Screen{Terminal: true, Width: func() int { return 7 }}, "\r\x1b[2Kat 50…\r\x1b[2Kabove\n\r\x1b[2Kat 1s\r\x1b[2K"},
		"log":      {Screen{}, "above\n"},
		"quick":    {Screen{Every: 600 * time.Millisecond}, "at 600ms\nabove\nat 1.2s\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var b strings.Builder
				c.screen.W = &b
				began := time.Now()
				l := Start(c.screen, func() string { return "at " + time.Since(began).String() })
				time.Sleep(700 * time.Millisecond)
				if _, err := l.Write([]byte("above\n")); err != nil {
					t.Error(err)
				}
				time.Sleep(550 * time.Millisecond)
				l.End()
				time.Sleep(time.Minute)
				synctest.Wait()
				if got := b.String(); got != c.want {
					t.Errorf("got %q, want %q", got, c.want)
				}
			})
		})
	}
}

// TestNothing: without a writer nothing happens.
func TestNothing(t *testing.T) {
	t.Parallel()
	l := Start(Screen{}, func() string { t.Error("asked for a line that nobody sees"); return "" })
	if n, err := l.Write([]byte("x\n")); n != 2 || err != nil {
		t.Errorf("got %d, %v, want 2 and no error", n, err)
	}
	l.End()
}

// TestEndWaits: if the text is being computed when the line ends, End waits for it, because the data it reads may
// change afterwards.
func TestEndWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		read := 0
		l := Start(Screen{W: io.Discard, Every: time.Second}, func() string {
			time.Sleep(time.Second)
			read++
			return "late"
		})
		time.Sleep(1500 * time.Millisecond)
		l.End()
		if read != 1 {
			t.Errorf("End returned when %d texts were finished, want the one that was under way", read)
		}
	})
}

// TestCut: a line fits its columns, of which Korean letters take two.
func TestCut(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "", "abcde": "abcde", "abcdef": "abcd…", "한국": "한국", "한국어": "한국…", "a한국어": "a한…", "ab한a": "ab한a", "ab한국": "ab한…"} {
		if got := cut(text, 5); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
