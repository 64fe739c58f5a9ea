package judge

import (
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

// What a 504 has to stand up to, on the machine's clock.
const (
	// ReportMs: a sound report that came in this much before the answer makes a
	// known outcome of it.
	ReportMs = 250
	// AcceptMs is the contract's notAfter, from the acceptance of a request:
	// afterwards no board may start to act, and before it nobody may give up.
	AcceptMs = 5000
)

// acceptMs is the contract's notAfter, or the one that a server was told in its place. What
// the server takes for its own default proves nothing.
func (v *View) acceptMs() int64 {
	for _, s := range slices.Backward(v.starts) {
		if s.NotAfterMs != 0 {
			return s.NotAfterMs
		}
	}
	return AcceptMs
}

// soundReport is the first report of a command by the board it went to, nil if
// none came.
func (c *command) soundReport() *history.Event {
	for _, e := range c.reports {
		ok := e.Result == vocab.OK || e.Result == vocab.Refused && e.Reason != ""
		if ok && len(c.publishes) > 0 && e.BoardID == c.publishes[0].BoardID {
			return e
		}
	}
	return nil
}

// firstAnswer is the first answer that told the outcome, not a repeat of it.
func (c *command) firstAnswer(outcome vocab.Outcome) *history.Event {
	var out []*history.Event
	for _, e := range c.answers {
		if e.Outcome == outcome && !e.Replayed {
			out = append(out, e)
		}
	}
	return earliest(out)
}

// unknown judges a command that was answered noResponse: nothing had come in,
// the time was up, and something explains the silence.
func (v *View) unknown(t *tally, c *command) {
	answer := c.firstAnswer(vocab.NoResponse)
	sent := earliest(c.publishes)
	if answer == nil || sent == nil || answer.WallNs == 0 || sent.WallNs == 0 {
		return
	}
	waited := (answer.WallNs - sent.WallNs) / 1e6
	report := c.soundReport()
	switch {
	case report != nil && report.WallNs != 0 && v.longer(report, answer, ReportMs):
		t.bad(answer, "%s was answered noResponse %s after its report had come in", c.id, secs((answer.WallNs-report.WallNs)/1e6)) // [CMD-4] [CMD-1]
	case v.explained(c, sent, answer):
	case v.shorter(sent, answer, v.acceptMs()):
		t.bad(answer, "%s was given up %s after it was sent, the board has %s to act", c.id, secs(waited), secs(v.acceptMs())) // [CMD-4]
	case report == nil && (v.truth(c) || v.heardAfter(c)):
		t.bad(answer, "%s got no report, but no fault hit it and its board's line was whole", c.id) // [CMD-4]
	}
}

// explained: a fault, or a death of the board, its line or the server.
func (v *View) explained(c *command, sent, answer *history.Event) bool {
	if len(c.faults) > 0 || strings.Contains(c.meaning(v), `"sim:`) || v.struck(c) != "" {
		return true
	}
	b := c.to
	if b == nil || v.dying(sent, answer) {
		return true
	}
	bad := false // the line as it was when the command went out
	for _, e := range b.conn {
		switch {
		case v.before(answer, e):
			return bad
		case e.Kind == history.Line && e.Op == "up" && v.before(e, sent):
			bad = false
		case e.Kind == history.Line:
			bad = true
		case !v.before(e, sent): // the connection changed
			bad = true
		}
	}
	return bad
}

// DyingMs is how long a server may take from its last answers to its next life.
const DyingMs = 30 * 1000

// dying: a new life of the server began between two events or soon after them;
// one that shuts down answers whoever waits.
func (v *View) dying(from, to *history.Event) bool {
	for _, s := range v.starts {
		if !v.before(s, from) && (!v.before(to, s) || !v.longer(to, s, DyingMs)) {
			return true
		}
	}
	return false
}

// StartingMs is how long a new life of the server may take until it serves.
const StartingMs = 10 * 1000

// starting: a life of the server had just begun; it may not serve yet.
func (v *View) starting(e *history.Event) bool {
	for _, s := range v.starts {
		if !v.before(e, s) && !v.longer(s, e, StartingMs) {
			return true
		}
	}
	return false
}

// meaning is what was asked for under the command's key.
func (c *command) meaning(v *View) string {
	if k := v.keys[c.key]; k != nil && len(k.attempts) > 0 {
		return k.attempts[0].Meaning
	}
	return ""
}

// mayBeSimulated: the test place ends a command as its reason says. What others
// asked for beside the run isn't known.
func (v *View) mayBeSimulated(c *command) bool {
	m := c.meaning(v)
	return strings.Contains(m, `"sim:`) || m == "" && v.begun != nil
}

// needlessly reports whether a command ended offline although its board was
// connected all the time around it, by the server's own word.
func (v *View) needlessly(c *command) bool {
	intent, b := earliest(c.intents), v.doors[c.door]
	if intent == nil || intent.WallNs == 0 || b == nil || !b.truth || v.mayBeSimulated(c) {
		return false
	}
	const around = 10_000
	online := false
	for _, e := range b.conn {
		switch {
		case v.longer(intent, e, around):
			return online
		case !v.longer(e, intent, around):
			return false
		case e.Kind == history.Online:
			online = true
		case e.Kind == history.Line && e.Op == "up":
		default:
			online = false
		}
	}
	return online
}
