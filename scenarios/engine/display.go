package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/live"
)

// display shows a run's progress: how many files were played, what is being played, what it waits for and how much
// longer it may, and roughly how long the rest takes.
type display struct {
	*live.Line
	total   int
	began   time.Duration
	metrics *Metrics

	mu      sync.Mutex
	played  int
	good    int // passed
	skipped int
	playing []string
	steps   []*activity
	last    string // what the run is doing after the files
}

// activity is a step in progress.
type activity struct {
	file, title string
	began       time.Duration
	limit       time.Duration // how long it may take; 0 = it ends when it ends
}

func newDisplay(opt *Options, files int) *display {
	opt.Metrics.planned.Set(float64(files))
	d := &display{total: files, began: clock.Mono(), metrics: opt.Metrics}
	d.Line = live.Start(live.Screen{W: opt.Progress, Terminal: opt.Terminal, Width: opt.Width}, d.line)
	return d
}

// line is the state in words.
func (d *display) line() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	spent := clock.Mono() - d.began
	out := fmt.Sprintf("%d of %d run, %d passed, ", d.played, d.total, d.good)
	if d.skipped > 0 {
		out += fmt.Sprintf("%d skipped, ", d.skipped)
	}
	out += told(spent)
	if d.last != "" {
		return out + ": " + d.last
	}
	if left := d.left(spent); left > 0 {
		out += fmt.Sprintf(", about %s left", told(left))
	}
	if len(d.playing) == 0 {
		return out
	}
	out += ": " + d.now()
	if n := len(d.playing) - 1; n > 0 {
		out += fmt.Sprintf(" (and %d more)", n)
	}
	return out
}

// left estimates the time for the remaining files from those already played, as long as some haven't begun: the last ones are
// often the longest, so what the others took says little about them.
func (d *display) left(spent time.Duration) time.Duration {
	if d.played < max(3, d.total/10) || d.played+len(d.playing) >= d.total { // the first ones are loads, which play alone
		return 0
	}
	return spent / time.Duration(d.played) * time.Duration(d.total-d.played)
}

// now is the file that has been playing longest, with its latest step.
func (d *display) now() string {
	out := d.playing[0]
	for _, a := range slices.Backward(d.steps) {
		if a.file != out {
			continue
		}
		out += ": " + a.title
		spent := clock.Mono() - a.began
		switch {
		case a.limit > 0:
			out += fmt.Sprintf(", %s of at most %s", told(spent), told(a.limit))
		case spent >= time.Second:
			out += ", " + told(spent)
		}
		break
	}
	return out
}

// told is a duration in whole seconds.
func told(d time.Duration) string {
	return cmp.Or(strings.TrimPrefix(amount.Duration(float64(d/time.Second)), "0"), "0 s")
}

func (d *display) start(file string) {
	d.metrics.running.Inc()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.playing = append(d.playing, file)
}

// step is what a file is doing, until the returned function is called.
func (d *display) step(file, title string) (a *activity, end func()) {
	a = &activity{file: file, title: title, began: clock.Mono()}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.steps = append(d.steps, a)
	return a, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if i := slices.Index(d.steps, a); i >= 0 {
			d.steps = slices.Delete(d.steps, i, i+1)
		}
	}
}

// may sets how long a step may take.
func (d *display) may(a *activity, limit time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	a.limit = limit
}

// may sets how long the step may take.
func (x *frame) may(limit time.Duration) { x.run.display.may(x.act, limit) }

// done handles a finished file; text is its report.
func (d *display) done(file string, status judge.Status, text []byte) {
	d.metrics.ended(status)
	d.mu.Lock()
	if i := slices.Index(d.playing, file); i >= 0 {
		d.playing = slices.Delete(d.playing, i, i+1)
	}
	d.played++
	switch status {
	case judge.Pass:
		d.good++
	case judge.Skipped:
		d.skipped++
	}
	d.mu.Unlock()
	if len(text) > 0 {
		_, _ = d.Write(text) // to a terminal or log: nothing can be done about an error
	}
}

// finally sets what the run is doing after the last file.
func (d *display) finally(what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last = what
}
