package judge

import (
	"slices"

	"github.com/doorlab/doorlab/internal/history"
)

// How far a board's own outage age may be off from its line's: if the line was taken down on purpose, and if only the
// server's word for the end of the connection exists. After a silent end, the board counts from the last packet, as it
// learns when its keep-alive runs out.
const (
	ageSlackMs       = 500
	ageFarMs         = 2000 // more than a minute before 36 h, when nothing depends on it: on a busy machine a board learns of a cut late
	ageServerSlackMs = 5000
	ageSilentMs      = restSilentMs
	// ageContactMs is how long after its hello was accepted a board may not know that yet.
	ageContactMs = 10 * 1000
	ageAnyMs     = 1 << 60 // an age that nothing limits
)

// lineState follows a board's line: what the board should know about its outage.
type lineState struct {
	known    bool  // a hello was seen: before it the age has no beginning
	upAt     int64 // of the hello
	heard    bool  // it has acknowledged something since then
	downAt   int64 // when the line or the connection ended, 0 = connected
	slack    int64
	silent   bool // the board wasn't notified
	deaf     bool // and nothing has come through to it since
	lost     bool // flash and clock were lost; the age is unknown until the next hello
	detached bool
	backAt   int64          // when it was attached again; what fell due in between is noted then
	cause    *history.Event // what ended the connection
}

// see processes an event of the board, in order.
func (s *lineState) see(e *history.Event) {
	switch e.Kind {
	case history.Online:
		*s = lineState{known: true, upAt: e.At}
	case history.Applied:
		s.heard = true
	case history.Offline, history.Started:
		s.down(e, ageServerSlackMs, false)
	case history.Line:
		if e.Op == "down" {
			s.down(e, ageSlackMs, e.Text != "offline")
			s.deaf = s.deaf || s.cause == e && (e.Text == "halfopen" || e.Text == "oneway-down")
		}
	case history.Detached:
		s.down(e, ageServerSlackMs, false)
		s.detached = true
	case history.Attached:
		s.detached, s.backAt = false, e.At
	case history.Wiped:
		s.lost = true
	}
}

func (s *lineState) down(e *history.Event, slack int64, silent bool) {
	if s.downAt == 0 && s.known {
		s.downAt, s.slack, s.silent, s.cause = e.At, slack, silent, e
	}
}

// brief reports whether the connection that has ended may have done so before the board knew of it: then the outage before
// goes on for it. A connection may be dead for a keep-alive's time before anybody notices.
func (s *lineState) brief() bool { return !s.heard && s.downAt-s.upAt <= ageSilentMs }

// age is the range of the board's outage age at a domain time; ok is false if the history can't tell.
func (s *lineState) age(at int64) (low, high int64, ok bool) {
	switch {
	case !s.known || s.lost || s.detached:
		return 0, 0, false
	case s.downAt == 0:
		return 0, 0, true
	}
	since, slack := at-s.downAt, s.slack
	if since < limitMs-60_000 {
		slack = max(slack, ageFarMs)
	}
	if s.silent { // until its keep-alive runs out the board is right to say 0
		slack = ageSilentMs
	}
	if low = max(0, since-slack); s.brief() {
		return low, ageAnyMs, true
	}
	return low, since + slack, true
}

// wrong reports an outage age that a board can't legitimately state, because its line has been down for a longer or
// shorter time. A connection that has just come back may count as an outage until the board has heard of it.
func (s *lineState) wrong(e *history.Event) (sinceMs int64, wrong bool) {
	at := s.due(e)
	low, high, ok := s.age(at)
	switch {
	case !ok || e.OutageAgeMs < 0:
		return 0, false
	case s.downAt == 0:
		return 0, e.OutageAgeMs > 0 && at-s.upAt > ageContactMs
	}
	if since := at - s.downAt; s.deaf && e.OutageAgeMs > 0 { // it has noticed, and counts from its last packet
		low = since - s.slack
	}
	return at - s.downAt, e.OutageAgeMs < low || e.OutageAgeMs > high
}

// due is when an event was due: a line of the journal that is noted late says the age of that time.
func (s *lineState) due(e *history.Event) int64 {
	late := max(e.LateMs, 0)
	if s.backAt == 0 || e.At > s.backAt+pulseLateMs {
		late = min(late, pulseLateMs)
	}
	return e.At - late
}

// maySayLost reports whether a board may say that its clock is lost: it died, or its process or the run began, and it
// hasn't acknowledged anything to the server since it came back.
func (b *board) maySayLost(v *View, e *history.Event) bool {
	var excuse *history.Event
	for _, x := range slices.Concat(b.deaths, b.onsite) {
		switch x.Kind {
		case history.Rebooted, history.Wiped, history.Door, history.Attached, history.Begun:
			if !v.before(e, x) && (excuse == nil || sooner(excuse, x)) {
				excuse = x
			}
		}
	}
	heard, hello := false, (*history.Event)(nil)
	for _, x := range b.applied {
		switch {
		case excuse != nil && !v.before(excuse, x) || !v.before(x, e):
		case x.Kind == history.Online:
			hello = x
		case x.Kind == history.Applied && hello != nil:
			heard = true
		}
	}
	return !heard
}

// mayResume reports whether a board may say in its hello that decisions have stopped: its clock is lost, or its line, as it
// was before, may have been down for over 36 h.
func (b *board) mayResume(v *View, was *lineState, hello *history.Event) bool {
	if !over(hello.OutageAgeMs) {
		return false
	}
	if hello.OutageAgeMs < 0 {
		return b.maySayLost(v, hello)
	}
	_, high, known := was.age(hello.At)
	return !known || was.cause != nil && was.cause.Src != hello.Src || over(high+ageServerSlackMs)
}
