package judge

import (
	"slices"
	"strconv"
	"strings"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

// What a 504 is checked against, on the machine's clock.
const (
	// reportMs: a valid report that arrived at least this long before the answer makes the outcome known.
	reportMs = 250
	// waitMs is how long the server waits for a report, from when it sent the command. A report that came later was too
	// late, even if a busy machine took its time to answer. By as much as such a machine answers late it may have noticed a
	// report late, too.
	waitMs = 8000
	// acceptMs is the contract's notAfter, from the acceptance of a request: after it no board may start to act, and
	// before it nobody may give up.
	acceptMs = 5000
)

// acceptMs is the contract's notAfter, or the one that the server was configured with which sent a command. What it takes
// for its own default proves nothing.
func (v *View) acceptMs(sent *history.Event) int64 {
	ms, known := int64(acceptMs), false
	for _, s := range v.starts {
		if s.NotAfterMs == 0 {
			continue
		}
		if known && v.before(sent, s) {
			break
		}
		ms, known = s.NotAfterMs, true
	}
	return ms
}

// refusalCodes are the protocol's. The server drops a refusal with any other.
var refusalCodes = []vocab.Reason{"busy", "jammed", "tamper", "low_power", "maintenance", vocab.Expired, "unsupported"}

// soundReport is the first report of a command by the board it was sent to; nil if there is none.
func (c *command) soundReport() *history.Event {
	return firstOf(c.reports, func(e *history.Event) bool {
		ok := e.Result == vocab.OK || e.Result == vocab.Refused && slices.Contains(refusalCodes, e.Reason)
		return ok && len(c.publishes) > 0 && e.BoardID == c.publishes[0].BoardID
	})
}

// firstAnswer is the first answer with the outcome, not a repeat.
func (c *command) firstAnswer(outcome vocab.Outcome) *history.Event {
	out := each.If(c.answers, func(e *history.Event) bool { return e.Outcome == outcome && !e.Replayed })
	return earliest(out)
}

// unknown judges a command answered with noResponse: no report had arrived, the time was up, and something explains the
// silence. A report that a scenario speaks may have been one that the server had to drop: the history doesn't show all of it.
func (v *View) unknown(t *tally, c *command) {
	answer := c.firstAnswer(vocab.NoResponse)
	sent := earliest(c.publishes)
	if answer == nil || sent == nil || answer.WallNs == 0 || sent.WallNs == 0 {
		return
	}
	waited := (answer.WallNs - sent.WallNs) / 1e6
	unseen := max(reportMs, waited-waitMs)
	report := c.soundReport()
	switch {
	case c.simulated(v, "noResponse:opened"), c.heldBack(v) > waitMs-reportMs: // the test place keeps its board's report to itself
	case report != nil && !v.byHand(c) && report.WallNs != 0 && v.longer(report, answer, reportMs) && !v.longer(sent, report, waitMs-unseen):
		t.bad(answer, "%s was answered noResponse %s after its report had come in", c.id, secs((answer.WallNs-report.WallNs)/1e6)) // [CMD-4] [CMD-1]
	case v.explained(c, sent, answer):
	case v.shorter(sent, answer, v.acceptMs(sent)):
		t.bad(answer, "%s was given up %s after it was sent, but the board has %s to act", c.id, secs(waited), secs(v.acceptMs(sent))) // [CMD-4]
	case report == nil && (v.truth(c) || v.heardAfter(c)):
		t.bad(answer, "%s got no report, although no fault hit it and its board's line was intact", c.id) // [CMD-4]
	}
}

// explained reports whether a fault, or a death of the board, its line or the server, explains the silence.
func (v *View) explained(c *command, sent, answer *history.Event) bool {
	if len(c.faults) > 0 || c.simulated(v, "") || v.struck(c) != "" {
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
		case !v.before(e, sent): // the connection may have changed
			bad = true
		}
	}
	return bad
}

// dyingMs is how long a server may take from its last answers to its next start.
const dyingMs = 30 * 1000

// dying reports whether a server process started between two events or soon after them; a server that stops answers
// everyone who is waiting.
func (v *View) dying(from, to *history.Event) bool {
	return slices.ContainsFunc(v.starts, func(s *history.Event) bool {
		return !v.before(s, from) && (!v.before(to, s) || !v.longer(to, s, dyingMs))
	})
}

// startingMs is how long a new server process may take until it serves.
const startingMs = 10 * 1000

// starting reports whether a server process had just started, and may not be serving yet.
func (v *View) starting(e *history.Event) bool {
	return slices.ContainsFunc(v.starts, func(s *history.Event) bool { return !v.before(e, s) && !v.longer(s, e, startingMs) })
}

// meanings are the requests that may have made the command: the one that got its outcome, else all under its key. A
// request that was refused, or came after 30 days, says nothing about another one's command.
func (c *command) meanings(v *View) (out []string) {
	if e := firstOf(c.answers, func(e *history.Event) bool { return definite(e) && e.Meaning != "" }); e != nil {
		return []string{e.Meaning}
	}
	if k := v.keys[c.key]; k != nil {
		out = each.Of(k.attempts, func(e *history.Event) string { return e.Meaning })
	}
	return out
}

// simulated reports whether the command's reason may have asked the test place for an outcome.
func (c *command) simulated(v *View, outcome string) bool {
	return slices.ContainsFunc(c.meanings(v), func(m string) bool { return strings.Contains(m, `"sim:`+outcome) })
}

// heldBack is for how long the test place holds back a report because the command asked for it, in ms.
func (c *command) heldBack(v *View) (most int64) {
	for _, m := range c.meanings(v) {
		if _, text, found := strings.Cut(m, `"sim:delay:`); found {
			ms, _ := strconv.ParseInt(strings.TrimSuffix(text, `"`), 10, 64) // anything else is no delay
			most = max(most, ms)
		}
	}
	return most
}

// mayBeSimulated reports whether the test place may have ended a command as its reason asks. Requests that others made
// beside the run are unknown.
func (v *View) mayBeSimulated(c *command) bool {
	return c.simulated(v, "") || len(c.meanings(v)) == 0 && v.begun != nil
}

// needlessly reports whether a command ended offline although, by the server's own events, its board was connected all
// the time around it.
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
