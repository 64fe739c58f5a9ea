// Package live shows progress: one line that is redrawn on a terminal, or a line now and then elsewhere. Other output
// goes above it. Scenarios and load tests use it.
package live

import (
	"io"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/doorlab/doorlab/internal/clock"
)

// Time between two lines.
const (
	redraw    = 500 * time.Millisecond // on a terminal
	heartbeat = 15 * time.Second       // elsewhere
)

// Screen is where a line is shown. The zero value shows nothing.
type Screen struct {
	W        io.Writer
	Terminal bool
	Width    func() int // columns of the terminal; nil: 80
	Every    time.Duration
}

// Line is a line in progress. It is also a writer of whole lines above it.
type Line struct {
	s    Screen
	text func() string

	mu    sync.Mutex
	drawn bool // a line is on the screen
	ended bool
	timer clock.Timer

	telling sync.WaitGroup // a call of text
}

// Start keeps showing what text returns until End. text is called on its own goroutine.
func Start(s Screen, text func() string) *Line {
	l := &Line{s: s, text: text}
	if s.W != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.again()
	}
	return l
}

// again schedules the next redraw. Called with mu held.
func (l *Line) again() {
	every := heartbeat
	switch {
	case l.s.Terminal:
		every = redraw
	case l.s.Every > 0:
		every = l.s.Every
	}
	l.timer = clock.WallAfter(every, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.ended {
			return
		}
		l.telling.Add(1)
		l.mu.Unlock() // text may need a lock that one of our writers holds
		text := l.text()
		l.mu.Lock()
		l.telling.Done()
		if !l.ended {
			l.draw(text)
			l.again()
		}
	})
}

func (l *Line) draw(text string) {
	if text == "" {
		return
	}
	if !l.s.Terminal {
		_, _ = io.WriteString(l.s.W, text+"\n") // to a log: nothing can be done about an error
		return
	}
	_, _ = io.WriteString(l.s.W, "\r\x1b[2K"+cut(text, l.width()))
	l.drawn = true
}

// width leaves the last column free, where a terminal would begin a new line.
func (l *Line) width() int {
	if l.s.Width != nil {
		if n := l.s.Width(); n > 1 {
			return n - 1
		}
	}
	return 79
}

// cut shortens a text to so many columns.
func cut(text string, width int) string {
	used, fits := 0, 0 // fits: up to where there is still room for the ellipsis
	for i, r := range text {
		if used += columns(r); used > width {
			return text[:fits] + "…"
		}
		if used < width {
			fits = i + utf8.RuneLen(r)
		}
	}
	return text
}

// columns is how many a terminal needs for a character: names of files and steps may be Korean.
func columns(r rune) int {
	if unicode.In(r, unicode.Hangul, unicode.Han, unicode.Hiragana, unicode.Katakana) || r >= 0xff01 && r <= 0xff60 {
		return 2
	}
	return 1
}

// Write puts whole lines above the line.
func (l *Line) Write(p []byte) (int, error) {
	if l.s.W == nil {
		return len(p), nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wipe()
	return l.s.W.Write(p)
}

// wipe erases the drawn line. Called with mu held.
func (l *Line) wipe() {
	if l.drawn {
		_, _ = io.WriteString(l.s.W, "\r\x1b[2K")
		l.drawn = false
	}
}

// End erases the line. When it returns, text isn't running and won't be called again: what text reads may change. Hold no
// lock that text needs.
func (l *Line) End() {
	l.mu.Lock()
	if l.ended = true; l.timer != nil {
		l.timer.Stop()
	}
	l.wipe()
	l.mu.Unlock()
	l.telling.Wait()
}
