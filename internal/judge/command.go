package judge

import (
	"fmt"
	"slices"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

// notAfterSlackMs is how much may lie between the publish event and the start of the board's NotAfterMs window, both on
// the machine's clock.
const notAfterSlackMs = 50

// sentSlackMs is how late, on a busy machine, the stamp of a publish may come after its NotAfterMs was worked out.
const sentSlackMs = 1000

// results maps the result of an entry record to the outcome of its command.
var results = map[vocab.Result]vocab.Outcome{
	vocab.Opened: vocab.Reported, vocab.Held: vocab.Reported, vocab.Locked: vocab.Reported,
	vocab.Offline: vocab.Offline, vocab.Refused: vocab.Refused, vocab.NoResponse: vocab.NoResponse,
}

// actions maps an operation to what the relay does for it.
var actions = map[string]string{"open": "pulse", "hold": "hold", "close": "lock"}

// statusOf are those of commands' answers, by outcome.
var statusOf = map[vocab.Outcome]int{vocab.Reported: 200, vocab.Offline: 409, vocab.Refused: 502, vocab.NoResponse: 504}

// misanswered judges the statusOf of answers: a 200 says that its command was reported, and each other outcome has a status
// of its own.
func (v *View) misanswered(t *tally, o vocab.Outcome) {
	for _, e := range v.misfits {
		switch {
		case e.Outcome == o:
			t.breaks(e, "%s %s ended %s, but was answered with %d", e.Method, e.Route, o, e.Status) // [CMD-1] [CMD-2] [CMD-3] [CMD-4]
		case o == vocab.Reported && e.Status == 200:
			t.breaks(e, "%s %s was answered with 200 and outcome %q", e.Method, e.Route, e.Outcome) // [CMD-1]
		}
	}
}

// told is the first event that revealed outcome o of a command: an answer, or the record if nobody was answered (entry
// by people, a lost answer); nil if there is none.
func (c *command) told(o vocab.Outcome) *history.Event {
	if slices.ContainsFunc(c.answers, definite) {
		return earliest(each.If(c.answers, func(e *history.Event) bool { return e.Outcome == o }))
	}
	return earliest(each.If(c.records, func(e *history.Event) bool { return results[e.Result] == o }))
}

// cmd1 judges CMD-1: a reported command has exactly one actuation, before the answer, of the right kind at the right
// door, and the board has reported it. A 200 names its command.
func cmd1(v *View) Verdict {
	t, pulses := v.counted.cmd1(), v.driven().of("CMD-1")
	return t.plus(pulses).verdict(v, "CMD-1", fmt.Sprintf("%s commands reported, one actuation each; relays checked %s times", amount.Number(t.checked), amount.Number(pulses.checked))).
		about(t.checked).
		at(v, v.endings(vocab.Reported, true))
}

func (v *View) cmd1() *tally {
	t := &tally{}
	for _, e := range v.nameless {
		t.breaks(e, "%s %s was answered with 200, but without a commandId", e.Method, e.Route) // [CMD-1]
	}
	v.misanswered(t, vocab.Reported)
	for _, c := range v.order {
		v.guestSays(t, c)
		told := c.told(vocab.Reported)
		if told == nil || v.unwitnessed(t, c, vocab.Reported, vocab.OK) {
			continue
		}
		t.checked++
		switch report := c.soundReport(); { // [CMD-1]
		case len(c.acts) == 0:
			t.bad(told, "%s reported without an actuation", c.id)
		case len(c.acts) > 1:
			t.bad(c.acts[1], "%s actuated %d times", c.id, len(c.acts))
		case v.before(told, c.acts[0]):
			t.bad(told, "%s reported before its actuation", c.id)
		case v.hasReports && len(c.publishes) > 0 && (report == nil || v.before(told, report) || report.Result != vocab.OK):
			t.bad(told, "%s reported, but its board had not said so", c.id)
		case c.op != "" && c.acts[0].Action != actions[c.op]:
			t.bad(c.acts[0], "%s is %s but the relay did %s", c.id, c.op, c.acts[0].Action)
		case c.door != "" && c.acts[0].DoorID != "" && c.acts[0].DoorID != c.door:
			t.bad(c.acts[0], "%s is for %s but moved %s", c.id, c.door, c.acts[0].DoorID)
		}
	}
	return t
}

// cmd2 judges CMD-2: a command that ended offline was never sent and never acted, and its board was really
// disconnected.
func cmd2(v *View) Verdict {
	t, ended := v.counted.cmd2(), v.ended(vocab.Offline)
	return t.verdict(v, "CMD-2", fmt.Sprintf("%s commands answered offline, none sent", amount.Number(t.checked))).
		triedIf(v.told, len(ended), "no command ended offline (a reason that begins with sim: doesn't count)").at(v, ended)
}

func (v *View) cmd2() *tally {
	t := &tally{}
	v.misanswered(t, vocab.Offline)
	for _, c := range v.order {
		if c.told(vocab.Offline) == nil || !v.hasServer && !v.truth(c) {
			continue
		}
		t.checked++
		if v.needlessly(c) {
			t.bad(c.told(vocab.Offline), "%s ended offline, but its board was connected", c.id) // [CMD-2]
		}
		if len(c.publishes) > 0 { // [CMD-2]
			t.bad(c.publishes[0], "%s ended offline but was sent", c.id)
		}
		if len(c.acts) > 0 {
			t.bad(c.acts[0], "%s ended offline but moved the door", c.id)
		}
	}
	return t
}

// cmd3 judges CMD-3: a refused command moved nothing, and its board did refuse it.
func cmd3(v *View) Verdict {
	t, ended := v.counted.cmd3(), v.ended(vocab.Refused)
	return t.verdict(v, "CMD-3", fmt.Sprintf("%s commands refused, none acted", amount.Number(t.checked))).
		triedIf(v.told, len(ended), "no board refused a command (a reason that begins with sim: doesn't count)").at(v, ended)
}

func (v *View) cmd3() *tally {
	t := &tally{}
	v.misanswered(t, vocab.Refused)
	for _, c := range v.order {
		if c.told(vocab.Refused) == nil || v.unwitnessed(t, c, vocab.Refused, vocab.Refused) {
			continue
		}
		t.checked++
		if len(c.acts) > 0 { // [CMD-3]
			t.bad(c.acts[0], "%s was refused but moved the door", c.id)
		}
		if report := c.soundReport(); v.hasReports && len(c.publishes) > 0 && (report == nil || report.Result != vocab.Refused) {
			t.bad(c.told(vocab.Refused), "%s was refused, but not by its board", c.id) // [CMD-3]
		}
	}
	return t
}

// cmd4 judges CMD-4: an unknown outcome was really unknown and has zero or one actuation, and no command at all acts
// later than notAfter, whatever was answered.
func cmd4(v *View) Verdict {
	t, n := v.counted.cmd4()
	ended := append(v.ended(vocab.NoResponse), n.late...)
	out := t.verdict(v, "CMD-4", fmt.Sprintf("slowest start of %s: %s after it was sent; %s with unknown outcome (%s acted, %s didn't)",
		amount.Number(n.timed), secs(n.latestMs), amount.Number(n.acted+n.idle), amount.Number(n.acted), amount.Number(n.idle))).
		triedIf(v.told, len(ended), "no command had an unknown outcome (a reason that begins with sim: doesn't count), and no board refused one as expired").
		showsIf(v.told, sight{n.acted - n.asActed, acted504}, sight{n.idle - n.asIdle, idle504}).
		at(v, ended)
	out.Strict = true // a run that has to prove it needs both kinds of 504
	return out
}

// The two kinds of 504.
const (
	acted504 = "a 504 although the door opened"
	idle504  = "a 504 after which the door stayed shut"
)

type cmd4numbers struct {
	acted, idle, timed int
	asActed, asIdle    int        // of those, as a reason asked the test place
	late               []Occasion // refused by a board as expired
	latestMs           int64
}

func (v *View) cmd4() (*tally, cmd4numbers) {
	t, n := &tally{}, cmd4numbers{}
	v.misanswered(t, vocab.NoResponse)
	for _, c := range v.order {
		unknown := c.told(vocab.NoResponse) != nil
		if unknown && c.byGuest() {
			v.countReal(t, c)
			v.unknown(t, c)
		} else if unknown && v.truth(c) {
			t.checked++
			switch len(c.acts) {
			case 0:
				if n.idle++; c.simulated(v, "") {
					n.asIdle++
				}
			case 1:
				if n.acted++; c.simulated(v, "") {
					n.asActed++
				}
			default:
				t.bad(c.acts[1], "%s has no known outcome and actuated %d times", c.id, len(c.acts)) // [CMD-4]
			}
			v.unknown(t, c)
		} else if r := c.soundReport(); len(c.acts) > 0 && len(c.publishes) > 0 {
			t.checked++
		} else if r != nil && r.Result == vocab.Refused && r.Reason == vocab.Expired {
			t.checked++
			n.late = append(n.late, v.given(c, r.WallNs))
		}
		v.inTime(t, &n, c)
	}
	return t, n
}

// inTime checks that no command acts after notAfter, counted from the acceptance of the request: neither from when the
// server had stored it, nor from when it sent it.
func (v *View) inTime(t *tally, n *cmd4numbers, c *command) {
	sent, intent := earliest(c.publishes), earliest(c.intents)
	if sent == nil || sent.WallNs == 0 {
		return
	}
	accept, took := v.acceptMs(sent), int64(0)
	if intent != nil {
		took = intent.TookNs / 1e6
	}
	known := intent != nil && intent.WallNs != 0
	if known && sent.NotAfterMs != 0 && v.longer(intent, sent, accept+sentSlackMs-took-sent.NotAfterMs) {
		t.bad(sent, "%s was sent %s after it was accepted, with %s left to act, but notAfter is %s", c.id, secs((sent.WallNs-intent.WallNs)/1e6+took), secs(sent.NotAfterMs), secs(accept)) // [CMD-4]
	}
	for _, a := range c.acts {
		if a.WallNs == 0 {
			continue
		}
		n.timed++
		ms := (a.WallNs - sent.WallNs) / 1e6
		n.latestMs = max(n.latestMs, ms)
		switch {
		case sent.NotAfterMs != 0 && v.longer(sent, a, sent.NotAfterMs+notAfterSlackMs):
			t.bad(a, "%s acted %s after it was sent, but notAfter is %s", c.id, secs(ms), secs(sent.NotAfterMs)) // [CMD-4]
		case known && v.longer(intent, a, accept+notAfterSlackMs-took):
			t.bad(a, "%s acted %s after it was accepted, but notAfter is %s", c.id, secs((a.WallNs-intent.WallNs)/1e6+took), secs(accept)) // [CMD-4]
		}
	}
}
