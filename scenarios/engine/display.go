package engine

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/judge"
)

// display shows how far a suite is: one line that is drawn over and over on a
// terminal, a line now and then elsewhere. What files have to say goes above it.
type display struct {
	w        io.Writer // nil: silent
	terminal bool
	total    int
	began    time.Duration

	mu           sync.Mutex
	played, good int
	playing      []string
	drawn        bool // a line waits to be drawn over
	timer        clock.Timer
	ended        bool
}

// Between two lines of a display.
const (
	redraw    = 500 * time.Millisecond
	heartbeat = 15 * time.Second
)

func newDisplay(w io.Writer, terminal bool, files int) *display {
	d := &display{w: w, terminal: terminal, total: files, began: clock.Mono()}
	if w != nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.again()
	}
	return d
}

// again draws the line after a while. Called with mu held.
func (d *display) again() {
	every := heartbeat
	if d.terminal {
		every = redraw
	}
	d.timer = clock.WallAfter(every, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if !d.ended {
			d.draw()
			d.again()
		}
	})
}

// line is the state in words. Called with mu held.
func (d *display) line() string {
	out := fmt.Sprintf("%d of %d played, %d passed, %.0f s", d.played, d.total, d.good, (clock.Mono() - d.began).Seconds())
	if len(d.playing) == 0 {
		return out
	}
	names := strings.Join(d.playing, ", ")
	if len(d.playing) > 4 {
		names = fmt.Sprintf("%s, and %d more", strings.Join(d.playing[:3], ", "), len(d.playing)-3)
	}
	return out + ": " + names
}

func (d *display) draw() {
	if !d.terminal {
		fmt.Fprintln(d.w, d.line())
		return
	}
	fmt.Fprint(d.w, "\r\x1b[2K"+d.line())
	d.drawn = true
}

// wipe takes the drawn line away. Called with mu held.
func (d *display) wipe() {
	if d.drawn {
		fmt.Fprint(d.w, "\r\x1b[2K")
		d.drawn = false
	}
}

func (d *display) start(file string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.playing = append(d.playing, file)
}

// done takes in a file that ended; text is what it has to say.
func (d *display) done(file string, status judge.Status, text []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if i := slices.Index(d.playing, file); i >= 0 {
		d.playing = slices.Delete(d.playing, i, i+1)
	}
	d.played++
	if !bad(status) {
		d.good++
	}
	if d.w == nil || len(text) == 0 {
		return
	}
	d.wipe()
	_, _ = d.w.Write(text) // to a terminal or log: nothing can be done about an error
}

// end leaves nothing behind.
func (d *display) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended = true; d.timer != nil {
		d.timer.Stop()
	}
	d.wipe()
}
