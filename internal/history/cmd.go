package history

import "fmt"

// NotAfterSlackMs is what may lie between the publish event and the moment from
// which the board's window of NotAfterMs counts, both on the machine's clock.
const NotAfterSlackMs = 50

// results maps the result of an entry record to the outcome of its command.
var results = map[string]string{
	"opened": Reported, "held": Reported, "locked": Reported,
	"offline": WasOffline, "refused": Refused, "noResponse": NoResponse,
}

// actions maps an operation to what the relay does for it.
var actions = map[string]string{"open": "pulse", "hold": "hold", "close": "lock"}

// told is the first event that told the outcome o of a command: an answer, or
// the record where nobody was answered (entry by people, a lost answer), nil if
// none did.
func (c *command) told(o string) *Event {
	var answered, recorded []*Event
	definitely := false
	for _, e := range c.answers {
		definitely = definitely || definite(e)
		if e.Outcome == o {
			answered = append(answered, e)
		}
	}
	if definitely {
		return earliest(answered)
	}
	for _, e := range c.records {
		if results[e.Result] == o {
			recorded = append(recorded, e)
		}
	}
	return earliest(recorded)
}

// Cmd1 judges CMD-1: a reported command has exactly one actuation, before the
// answer, of the right kind at the right door [CMD-1].
func Cmd1(v *View) Verdict {
	t := v.cmd1()
	return t.verdict(v, "CMD-1", fmt.Sprintf("%s reported, one actuation each", count(t.checked)))
}

func (v *View) cmd1() *tally {
	t := &tally{}
	for _, c := range v.order {
		told := c.told(Reported)
		if told == nil || !v.truth(c) {
			continue
		}
		t.checked++
		switch {
		case len(c.acts) == 0:
			t.bad(told, "%s reported without an actuation", c.id)
		case len(c.acts) > 1:
			t.bad(c.acts[1], "%s actuated %d times", c.id, len(c.acts))
		case before(told, c.acts[0]):
			t.bad(told, "%s reported before its actuation", c.id)
		case c.op != "" && c.acts[0].Action != actions[c.op]:
			t.bad(c.acts[0], "%s is %s but the relay did %s", c.id, c.op, c.acts[0].Action)
		case c.door != "" && c.acts[0].DoorID != "" && c.acts[0].DoorID != c.door:
			t.bad(c.acts[0], "%s is for %s but moved %s", c.id, c.door, c.acts[0].DoorID)
		}
	}
	return t
}

// Cmd2 judges CMD-2: a command that ended offline was never sent and never
// acted [CMD-2].
func Cmd2(v *View) Verdict {
	t := v.cmd2()
	return t.verdict(v, "CMD-2", fmt.Sprintf("%s offline, none sent", count(t.checked)))
}

func (v *View) cmd2() *tally {
	t := &tally{}
	for _, c := range v.order {
		if c.told(WasOffline) == nil || !v.hasServer && !v.truth(c) {
			continue
		}
		t.checked++
		if len(c.publishes) > 0 {
			t.bad(c.publishes[0], "%s ended offline but was sent", c.id)
		}
		if len(c.acts) > 0 {
			t.bad(c.acts[0], "%s ended offline but moved the door", c.id)
		}
	}
	return t
}

// Cmd3 judges CMD-3: a refused command moved nothing [CMD-3].
func Cmd3(v *View) Verdict {
	t := v.cmd3()
	return t.verdict(v, "CMD-3", fmt.Sprintf("%s refused, none acted", count(t.checked)))
}

func (v *View) cmd3() *tally {
	t := &tally{}
	for _, c := range v.order {
		if c.told(Refused) == nil || !v.truth(c) {
			continue
		}
		t.checked++
		if len(c.acts) > 0 {
			t.bad(c.acts[0], "%s was refused but moved the door", c.id)
		}
	}
	return t
}

// Cmd4 judges CMD-4: an unknown outcome has zero or one actuation, and no
// command at all acts later than notAfter, whatever was answered [CMD-4].
func Cmd4(v *View) Verdict {
	t, n := v.cmd4()
	return t.verdict(v, "CMD-4", fmt.Sprintf("%s unknown (%s acted, %s not), latest start %s of %s",
		count(n.acted+n.idle), count(n.acted), count(n.idle), secs(n.latestMs), count(n.timed)))
}

type cmd4numbers struct {
	acted, idle, timed int
	latestMs           int64
}

func (v *View) cmd4() (*tally, cmd4numbers) {
	t, n := &tally{}, cmd4numbers{}
	for _, c := range v.order {
		if c.told(NoResponse) != nil && v.truth(c) {
			t.checked++
			switch len(c.acts) {
			case 0:
				n.idle++
			case 1:
				n.acted++
			default:
				t.bad(c.acts[1], "%s has no known outcome and actuated %d times", c.id, len(c.acts))
			}
		} else if len(c.acts) > 0 && len(c.publishes) > 0 {
			t.checked++
		}
		sent := earliest(c.publishes)
		if sent == nil || sent.WallNs == 0 || sent.NotAfterMs == 0 {
			continue
		}
		for _, a := range c.acts {
			if a.WallNs == 0 {
				continue
			}
			n.timed++
			ms := (a.WallNs - sent.WallNs) / 1e6
			n.latestMs = max(n.latestMs, ms)
			if a.WallNs > sent.WallNs+(sent.NotAfterMs+NotAfterSlackMs)*1e6 {
				t.bad(a, "%s acted %s after it was sent, notAfter is %s", c.id, secs(ms), secs(sent.NotAfterMs))
			}
		}
	}
	return t, n
}
