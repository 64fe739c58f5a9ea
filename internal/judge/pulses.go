package judge

import (
	"slices"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
)

// How long an opening drives the relay, and how far off its end may be.
const (
	pulseMs      = 5000
	pulseEarlyMs = 100
	pulseLateMs  = 2000 // of a board's timers on a loaded machine
)

// drive is what drives a channel: a hold, a resting behaviour or a pulse.
type drive struct {
	held, resting bool
	by            *history.Event // what drives it, or ended it, last
	ends          []int64        // when it may rightly fall
	late          int64          // how late the journal noted what drives it or ended it
	boot          int
	early         *history.Event // a fall before its time, unless the board was rebooted
}

func (d *drive) active() bool { return d.by != nil }

// last is the latest time at which the relay may still be driven; ok is false while something holds it.
func (d *drive) last() (at int64, ok bool) {
	for _, end := range d.ends {
		at = max(at, end)
	}
	return at, d.by != nil && len(d.ends) > 0 && !d.held && !d.resting
}

// relays judges how long each relay was driven: 5 s for a pulse, and never beyond the end of a hold. The tallies are
// CMD-1's for pulses of commands, ENT-1's for those on site, OFF-3's for those of an outage, and CMD-7's for holds. What
// the journal's lines say about themselves is added to them, and to OFF-4's what a hello says.
func (v *View) relays() book {
	b := book{}
	for _, x := range v.sortedBoards() {
		if x.truth && v.hasFalls {
			v.relaysOf(b, x)
		}
	}
	v.journals(b)
	return b
}

func (v *View) relaysOf(b book, x *board) {
	drives := map[int]*drive{}
	for _, e := range x.onsite {
		switch e.Kind {
		case history.Wiped, history.Detached, history.Attached, history.Door: // the board starts over
			drives = map[int]*drive{}
		case history.Actuation, history.Released:
			own := each.Made(drives, e.Channel, func() *drive { return &drive{} })
			if e.Kind == history.Released {
				own.falls(b, x, e)
				continue
			}
			for _, d := range drives {
				d.goesOn(b, x, e)
			}
			own.moves(b, x, e, v.notedLate(e))
		}
	}
	if spans := x.spans(); len(spans) > 0 && spans[len(spans)-1].to == never { // it is connected at the end
		for _, d := range drives {
			d.atEnd(b, x, v.end)
		}
	}
}

// outlasted is a power cut that a pulse went on after, until it fell; nil = there was none.
func (d *drive) outlasted(x *board, fall *history.Event) *history.Event {
	if d.by.Action != "pulse" {
		return nil
	}
	return firstOf(x.deaths, func(r *history.Event) bool { return r.Seq > d.by.Seq && r.At+pulseLateMs < fall.At })
}

// atEnd judges the drive of a board that is connected when the history ends.
func (d *drive) atEnd(b book, x *board, end int64) {
	if d.early == nil {
		if last, ok := d.last(); ok && end > last+FreshMs {
			d.stuck(b, x, end)
		}
		return
	}
	// It fell early; without a later journal line only a reboot explains that.
	if !slices.ContainsFunc(x.deaths, func(r *history.Event) bool { return r.Seq > d.by.Seq && r.At <= d.early.At }) {
		d.fellEarly(b, x)
	}
}

// goesOn notes that the board has done something at a later time. By then whatever was due must have fallen, and an
// early fall was no reboot if the boot number hasn't changed.
func (d *drive) goesOn(b book, x *board, e *history.Event) {
	if e.Boot != d.boot {
		d.early = nil
		if d.active() && !d.held && !d.resting {
			*d = drive{boot: e.Boot}
		}
		d.boot = e.Boot
		return
	}
	if d.early != nil {
		d.fellEarly(b, x)
	}
	if last, ok := d.last(); ok && e.At > last+pulseLateMs {
		d.stuck(b, x, e.At)
	}
}

func (d *drive) fellEarly(b book, x *board) {
	b.of(d.clause()).bad(d.early, "%s channel %d fell %s after its %s, but should have stayed up for %s", x.id, d.by.Channel, secs(d.early.At-d.by.At), d.by.Action, secs(pulseMs)) // [CMD-1] [CMD-7]
	*d = drive{boot: d.boot}
}

func (d *drive) stuck(b book, x *board, at int64) {
	last, _ := d.last()
	b.of(d.clause()).bad(d.by, "%s channel %d is still driven %s after it should have fallen", x.id, d.by.Channel, secs(at-last)) // [CMD-1] [CMD-7]
	*d = drive{boot: d.boot}
}

// clause is the promise that the drive belongs to.
func (d *drive) clause() string {
	switch {
	case d.by.Action != "pulse":
		return "CMD-7"
	case d.by.Cause == "command":
		return "CMD-1"
	case d.by.Cause == "outage":
		return "OFF-3"
	}
	return "ENT-1"
}

// notedLate is how late a journal line may have been noted: as it says, up to what a loaded machine takes. Beyond that,
// on a machine that stood still, no later than its command was sent.
func (v *View) notedLate(e *history.Event) int64 {
	late := min(e.LateMs, pulseLateMs)
	if c := v.commands[e.CommandID]; c != nil && e.LateMs > late {
		if sent := earliest(c.publishes); sent != nil {
			late = max(late, min(e.LateMs, e.At-sent.At))
		}
	}
	return late
}

// moves handles a journal line, noted late by that much.
func (d *drive) moves(b book, x *board, e *history.Event, late int64) {
	d.boot = e.Boot
	switch e.Action {
	case "pulse":
		d.by, d.ends, d.late = e, []int64{e.At + pulseMs}, late
		t := b.of(d.clause())
		t.checked++
		if e.PulseMs != 0 && e.PulseMs != pulseMs {
			t.bad(e, "%s channel %d pulses for %s, but should pulse for %s", x.id, e.Channel, secs(e.PulseMs), secs(pulseMs)) // [CMD-1]
		}
	case "hold":
		d.by = e
		if e.Cause == "outage" && e.OutageAgeMs != 0 {
			d.resting = true
		} else {
			d.held, d.resting = true, false
		}
	case "lock", "off":
		d.held, d.resting = false, false
		if !d.active() {
			return
		}
		if d.by = e; cuts(e) {
			d.ends = nil
		}
		d.ends, d.late = append(d.ends, e.At), max(d.late, late)
	}
}

// cuts reports whether a line also ends a pulse, not only what holds the relay.
func cuts(e *history.Event) bool {
	return e.Cause == "command" || e.Cause == "outage" && e.OutageAgeMs != 0
}

// falls handles the end of everything that drives the relay.
func (d *drive) falls(b book, x *board, e *history.Event) {
	if !d.active() {
		return
	}
	for _, end := range d.ends {
		if e.At >= end-pulseEarlyMs-d.late && e.At <= end+pulseLateMs && !d.held && !d.resting {
			b.of(d.clause()).checked++
			if r := d.outlasted(x, e); r != nil {
				b.of(d.clause()).bad(e, "%s channel %d was driven on for %s after a power cut, which ends a pulse", x.id, d.by.Channel, secs(e.At-r.At)) // [CMD-1]
			}
			*d = drive{boot: d.boot}
			return
		}
	}
	if last, ok := d.last(); ok && e.At > last {
		d.stuck(b, x, e.At)
		return
	}
	if !d.held && !d.resting {
		d.early = e
		return
	}
	clause := "CMD-7"
	if d.resting {
		clause = "OFF-3"
	}
	b.of(clause).breaks(e, "%s channel %d fell while it was held, and its journal doesn't mention it", x.id, d.by.Channel) // [CMD-7] [OFF-3]
	*d = drive{boot: d.boot}
}
