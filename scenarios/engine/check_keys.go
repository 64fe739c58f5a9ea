package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/near"
	"github.com/doorlab/doorlab/internal/vocab"
)

// Do the keys of a step go together? Of two that don't, one would be ignored.

// combined reports the keys of a step that can't stand beside each other, and values that no answer could have.
func (c *checker) combined(s *Step) {
	if s.Within != nil && s.Eventually {
		c.b.Problem(s.Within.pos, "give within or eventually, not both; eventually means within: 30s")
	}
	if s.Never != nil && (s.Within != nil || s.Eventually) {
		c.b.Problem(s.Never.pos, "a step takes never, or within or eventually, not both: never checks that the expectation stays false, the others wait until it holds")
	}
	if s.Verbs.Wait != nil && (s.Within != nil || s.Eventually || s.Never != nil) {
		c.b.Problem(s.pos, "wait takes as long as its step: give that step within, eventually or never")
	}
	if a := s.Verbs.answered(); a != nil {
		c.status(*a)
	}
	c.values(s)
	c.forward("within", s.Within)
	c.forward("never", s.Never)
	c.forward("pause", s.Verbs.Pause)
	switch v := &s.Verbs; {
	case v.Call != nil:
		c.path(v.Call.Path)
	case v.Control != nil:
		c.path(v.Control.Path)
	case v.Command != nil:
		c.command(v.Command)
	case v.Crash != nil:
		c.unheard("crash", &v.Crash.Unheard, s.pos)
	case v.HangUp != nil:
		c.unheard("hang_up", &v.HangUp.Unheard, s.pos)
		c.forward("after", &v.HangUp.After)
	case v.Phone != nil:
		c.phone(v.Phone, s.pos)
	case v.Clock != nil:
		c.clock(v.Clock, s.pos)
	case v.Disk != nil:
		c.disk(v.Disk, s.pos)
	case v.Cohort != nil:
		if given := cohortSize(v.Cohort); len(given) > 1 {
			c.b.Problem(s.pos, "%s are given: give only one of boards, share and part", strings.Join(given, " and "))
		}
	case v.Fault != nil:
		c.arms(v.Fault)
	case v.Clear != nil:
		c.cleared = append(c.cleared, v.Clear.Name)
	case v.Present != nil:
		c.oneOf(s.pos, "present", map[string]bool{"person": v.Present.Person.set(), "phone": v.Present.Phone.set(), "token": v.Present.Token.set()})
	case v.Link != nil:
		c.oneOf(s.pos, "link", map[string]bool{"person": v.Link.Person.set(), "token": v.Link.Token.set()})
	case v.Policy != nil && v.Policy.Remove:
		if p := v.Policy; p.Mode.set() || p.Week != nil || p.StartsAt.set() || p.EndsAt.set() {
			c.b.Problem(s.pos, "remove takes only doors and ref: mode, week, startsAt and endsAt describe a new window")
		}
	}
}

// oneOf reports a step that says in two ways who comes.
func (c *checker) oneOf(pos Pos, verb string, set map[string]bool) {
	if given := each.If(keysOf(set), func(k string) bool { return set[k] }); len(given) > 1 {
		c.b.Problem(pos, "%s takes one of %s: only one of them would be tried", verb, strings.Join(given, " and "))
	}
}

func (c *checker) arms(v *Fault) {
	if v.Share != nil && v.Of.set() {
		c.b.Problem(v.Share.pos, "share and of can't be combined: share counts from all boards; for a part of a cohort, define a smaller cohort with from")
	}
	name := v.Name.Text
	if !name.set() {
		name = v.Fault.Text
	}
	text, literal := name.Literal()
	if !literal {
		text = ""
	}
	c.armed[text] = true
}

// clears reports faults that are cleared but never armed.
func (c *checker) clears() {
	for _, name := range c.cleared {
		if text, ok := name.Literal(); ok && name.set() && !c.armed[text] && !c.armed[""] {
			c.b.Problem(name.pos, "no fault %q is armed in this file%s", text, near.Hints(text, keysOf(c.armed)))
		}
	}
}

// forward checks a length of time that can't be negative.
func (c *checker) forward(name string, d *Dur) {
	if v, ok := d.literal(); ok && v < 0 {
		c.b.Problem(d.pos, "%s must not be negative", name)
	}
}

// literal is the length as written; ok is false if it is computed in the run, or none.
func (d *Dur) literal() (time.Duration, bool) {
	if d == nil || !d.set() {
		return 0, false
	}
	if _, ok := d.Literal(); !ok {
		return 0, false
	}
	v, err := d.dur(nil)
	return v, err == nil
}

// path is appended to the address of the target; without a slash it could change the host, and the key would go there.
func (c *checker) path(t Text) {
	if t.set() && !strings.HasPrefix(t.raw, "${") {
		if err := checkPath(t.raw); err != nil {
			c.b.Problem(t.pos, "%s", err)
		}
	}
}

func checkPath(path string) error {
	switch {
	case !strings.HasPrefix(path, "/"):
		return fmt.Errorf("a path begins with /, found %q", path)
	case strings.Contains(path, `{"`):
		return fmt.Errorf("there is an object in the path: name one of its fields, such as ${one.board}; found %q", path)
	}
	return nil
}

func (c *checker) status(a Answered) {
	for i := range a.Status {
		n := &a.Status[i]
		if f, ok := n.literal(); ok && (f < 100 || f > 599 || f != float64(int(f))) {
			c.b.Problem(n.pos, "status must be a whole number from 100 to 599")
		}
	}
}

// answers are the statuses of commands, by how they end.
var answers = map[vocab.Outcome]float64{vocab.Reported: 200, vocab.Offline: 409, vocab.Refused: 502, vocab.NoResponse: 504}

func (c *checker) command(v *Command) {
	if v.Apart && (v.Key.set() || v.Times == nil && v.Together == nil) {
		c.b.Problem(v.Door.pos, "apart means a new key for each of several commands: give times or together, and no key")
	}
	what, literal := v.Command.Literal()
	hold := strings.TrimPrefix(what, "door.") == "hold"
	if f, ok := v.Minutes.literal(); ok && literal && hold && !v.fails() && (f < 0 || f > 1440 || f != float64(int(f))) {
		c.b.Problem(v.Minutes.pos, "minutes of a hold must be a whole number from 0 (until it is ended) to 1440")
	}
	want, literal := v.Outcome.Literal()
	status, known := answers[vocab.Outcome(want)]
	if !literal || !known || v.Legacy {
		return
	}
	for i := range v.Status {
		if f, ok := v.Status[i].literal(); ok && f != status {
			c.b.Problem(v.Status[i].pos, "a command with the outcome %s is answered with %.0f, not %.0f", want, status, f)
		}
	}
	if v.Code.set() && vocab.Outcome(want) != vocab.Refused {
		c.b.Problem(v.Code.pos, "code is the deviceCode of a refusal; a command with the outcome %s has none", want)
	}
}

func (c *checker) unheard(verb string, v *Unheard, pos Pos) {
	if (v.Command == nil) == (v.Link == nil) {
		c.b.Problem(pos, "%s needs one of command and link", verb)
	} else if v.Link != nil && !v.Link.Door.set() {
		c.b.Problem(pos, "%s is about a door that is being opened: give the link a door", verb)
	}
}

func (c *checker) clock(v *Clock, pos Pos) {
	c.forward("advance", v.Advance)
	if d, ok := v.Advance.literal(); ok && d > control.MaxJump {
		c.b.Problem(v.Advance.pos, "advance must be at most ten years")
	}
	given := 0
	for _, set := range []bool{v.Do != "", v.Advance != nil, v.To.set()} {
		if set {
			given++
		}
	}
	if given == 0 {
		c.b.Problem(pos, "clock needs one of freeze, run, advance and to")
	}
	if given > 1 {
		c.b.Problem(clockPos(v), "clock takes one of freeze, run, advance and to")
	}
	if text, ok := v.To.Literal(); ok && v.To.set() {
		if label, d, err := splitMoment(text); err == nil && label == "now" && d < 0 {
			c.b.Problem(v.To.pos, "time only moves forward, and %s has passed; name a later time", text)
		}
	}
}

func clockPos(v *Clock) Pos {
	if v.To.set() {
		return v.To.pos
	}
	return v.Advance.pos
}

// cohortSize names the keys that say how many boards a cohort has.
func cohortSize(v *Cohort) (given []string) {
	for name, set := range map[string]bool{"boards": v.Boards != nil, "share": v.Share != nil, "part": v.Part.set()} {
		if set {
			given = append(given, name)
		}
	}
	slices.Sort(given)
	return given
}
