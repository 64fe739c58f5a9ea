package judge

import (
	"strings"

	"github.com/doorlab/doorlab/internal/vocab"
)

// What a promise is about has to have happened, or a file that is about the promise has
// shown nothing, however much its checker saw.

// tried is a verdict of a promise that was put to the test n times; what says by what.
func (v Verdict) tried(n int, what string) Verdict {
	if n == 0 {
		v.Untried = append(v.Untried, what)
	}
	return v
}

// triedIf is tried where the evidence for it can be had: clients alone don't see it.
func (v Verdict) triedIf(told bool, n int, what string) Verdict {
	if !told {
		return v
	}
	return v.tried(n, what)
}

// weighed counts decisions as the reference has them, or as they were told where it can't tell.
type weighed struct {
	let, kept int // by a grant, for want of one
	windowed  int // by a window, and without it they would have been others
}

func (w *weighed) take(r ruling) {
	switch {
	case r.byWindow() && r.moot:
	case r.byWindow():
		w.windowed++
	case r.allow:
		w.let++
	default:
		w.kept++
	}
}

// told takes in a decision of which the reference can't say anything.
func (w *weighed) told(opened bool, reason vocab.Reason) {
	switch {
	case reason == vocab.FreeWindow || reason == vocab.ClosedWindow:
	case opened:
		w.let++
	default:
		w.kept++
	}
}

// answered takes in what a link or a caller was told.
func (s *served) answered(c *call) {
	switch {
	case c.Route == linkRoute && (c.Code == "link_invalid" || c.Code == "entry_denied"):
		s.told(false, vocab.Reason(c.out("rule")))
	case c.Route == linkRoute && c.Method == "POST" && c.ok():
		s.told(true, "")
	case c.Route == phoneRoute && c.out("result") != "":
		s.told(c.out("result") != string(vocab.Denied), vocab.Reason(c.out("reason")))
	}
}

// ended is how many commands ended so that had not asked for it: the test place ends
// a command as its reason says, and no board has a part in that.
func (v *View) ended(o vocab.Outcome) (n int) {
	for _, c := range v.order {
		if c.told(o) != nil && !strings.Contains(c.meaning(v), `"sim:`) {
			n++
		}
	}
	return n
}
