package judge

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

// What the server decides itself: links pressed and numbers called. The content that it reported, which is compared
// with the clients' claims, goes through the same reference as the boards' decisions.

const (
	linkRoute  = "/entry/open"
	phoneRoute = "/lab/v1/people/call"
)

// sameMs: using the same link or number at the same door within this time is one opening. Whether somebody may enter is
// decided each time; a second caller who may gets the first one's answer.
const sameMs = 3000

// deciding is one call that the server decided, with the reference's rulings for every revision and time by which it
// may have decided.
type deciding struct {
	*call
	place   string
	rulings []ruling
	door    string        // "" if none could be chosen
	outcome vocab.Outcome // of the command, if the server let the person in; "" if it didn't
	fresh   bool          // soon after what makes it so: a link died, or somebody's permit began
	reason  vocab.Reason  // why it didn't
	credit  string        // the grant that opened the door, if the reference credits others; "" = as far as is known one of those
	wrong   string        // about the command that its outcome should be of
	ambig   bool
}

// opened: the server let the person in, whatever became of the command.
func (d *deciding) opened() bool { return d.outcome != "" }

// longMs: the rulings at the two ends of a call that took longer, over a jump say, needn't be those in between.
const longMs = 10_000

// long reports whether rules may have changed and changed back during a call.
func (c *call) long() bool { return c.At-c.SentAt > longMs }

// served is the result of judging them.
type served struct {
	book
	weighed
	links, calls int
	permitted    int             // doors that opened because of a permit, soon enough to show that it holds at once
	linked       int             // of those, by link
	dead         int             // links pressed soon after they had died
	alike        int             // ended by the board's refusal, silence or absence, like a command for the same door
	states       map[string]bool // of the permits whose links were pressed, by what came of it

	windowedAt, permittedAt, deadAt []*call // those that were windowed, permitted or dead
	taken                           []*call // all that were judged
	untold                          []*call // of callers whom the reference doesn't know, because they may have been imported
}

// serverDecisions judges all of them.
func (v *View) serverDecisions() *served {
	b := &served{book: book{}, states: map[string]bool{}}
	links := v.linksGiven()
	for _, c := range v.calls() {
		if c.SentNs == 0 {
			continue
		}
		d := v.attempted(c, links, v.skewMs(c))
		judged := d != nil && v.judgeServed(b, d)
		if !judged {
			v.answered(b, c)
			b.nearly(v.attempted(c, links, 0))
		}
		if d != nil && d.wrong != "" {
			if !judged {
				b.of("ENT-3").checked++
			}
			b.breach(c, []string{"ENT-3"}, "%s %s: %s", c.Method, c.Route, d.wrong) // [ENT-3]
		}
	}
	return b
}

// linksGiven are the creates by the mark of the link in their answer.
func (v *View) linksGiven() map[string][]*claim {
	return each.By(each.If(v.claims(), func(k *claim) bool { return k.token != "" }), func(k *claim) string { return k.token })
}

// linkDecided parses an opening by link; nil if nothing was decided or the link's owner is unknown.
func (v *View) linkDecided(c *call, given []*claim, skew int64) *deciding {
	if len(given) == 0 || c.in("doorId") == "" {
		return nil
	}
	d := &deciding{call: c, place: given[0].place, door: c.in("doorId"), outcome: outcomeByCode[c.Code]}
	switch {
	case c.ok():
		d.outcome = vocab.Reported
	case d.opened():
	case c.Code == "link_invalid":
		d.reason = vocab.LinkInvalid
	case c.Code == "entry_denied":
		d.reason = vocab.Reason(c.out("rule"))
	default:
		return nil
	}
	dead, fresh, sure := v.deadLink(c, given)
	if d.fresh = fresh; dead && sure { // at whatever door, and even right after an opening
		d.rulings = []ruling{deny(vocab.LinkInvalid)}
		return d
	}
	p := v.places[d.place]
	if !v.knows(p, c) || v.doors[c.in("doorId")] == nil || v.doors[c.in("doorId")].place != d.place {
		return nil
	}
	id := given[0].id
	d.ruled(v, p, skew, func(rev int64) (string, bool) {
		g, ok := p.content.at(id, rev)
		return g.PhoneHash, ok && !g.Revoked
	})
	d.ambig = !sure || c.long()
	return d
}

// atOnceMs is the time after a change in which a look shows that it came at once. Who looks hours later has seen
// nothing of that.
const atOnceMs = 2 * 60 * 1000

// jumpedMs is how much of that may have been skipped by jumps of the clock: what a file itself lets pass isn't "at once".
const jumpedMs = 10 * 1000

// deadLink reports whether the permit was revoked after the link was last issued, and whether the last change of the
// permit, or its start, is fresh. It isn't sure while a call on the permit is in progress.
func (v *View) deadLink(c *call, given []*claim) (dead, fresh, sure bool) {
	known := false
	for _, k := range v.claims() {
		if k.id != given[0].id {
			continue
		}
		switch {
		case k.overlaps(c) && sooner(k.started(), c.Event):
			return false, false, false
		case !sooner(k.Event, c.started()):
		case k.revoked:
			dead, fresh = true, k.fresh(c)
		default:
			dead, fresh, known = k.token != given[0].token, k.fresh(c), known || k.token == given[0].token
		}
	}
	return dead, fresh, known
}

// fresh reports whether a call came soon after the grant was given or revoked, or after its start if that came later.
func (k *claim) fresh(c *call) bool {
	since, jumped := k.At, c.SentAt-k.At-(c.SentNs-k.WallNs)/1e6
	if !k.revoked && k.starts > since {
		since, jumped = k.starts, 0 // whoever waits for its start has to jump
	}
	return c.SentAt-since <= atOnceMs && (jumped <= jumpedMs || c.SentNs == 0)
}

// freshCaller reports whether a permit of the caller is fresh.
func (v *View) freshCaller(c *call) bool {
	return slices.ContainsFunc(v.claims(), func(k *claim) bool {
		return k.kind == "permit" && k.place == c.PlaceID && k.phone == c.in("from") && sooner(k.Event, c.started()) && k.fresh(c)
	})
}

// ruled asks the reference about a link's holder at every revision and time at which the server may have decided.
func (d *deciding) ruled(v *View, p *place, skew int64, holder func(rev int64) (phone string, live bool)) {
	for _, rev := range v.revisions(p, d.call) {
		for _, at := range []int64{d.SentAt - skew, d.At + skew} {
			phone, live := holder(rev)
			if !live && phone == "" { // it has left the content: unknown
				d.rulings = append(d.rulings, ruling{unknown: true})
				continue
			}
			if !live {
				d.rulings = append(d.rulings, deny(vocab.LinkInvalid))
				continue
			}
			d.rulings = append(d.rulings, p.content.ruleFor(phone, d.in("doorId"), rev, at))
		}
	}
}

// revisions are the place's revisions during a call: the last one before it and all since.
func (v *View) revisions(p *place, during *call) []int64 {
	out := []int64{p.content.base}
	for _, c := range p.raised {
		switch {
		case c.Revision < p.content.base || out[len(out)-1] == c.Revision:
		case v.before(c, during.started()):
			out = []int64{c.Revision}
		case !v.before(during.Event, c):
			out = append(out, c.Revision)
		}
	}
	return out
}

// ruleFor decides about a person at a door.
func (c *content) ruleFor(phone, door string, rev, now int64) ruling {
	mode, ok := modeAt(until(c.windows, rev), until(c.hours, rev), door, now)
	if !ok {
		return ruling{unknown: true}
	}
	r := weigh(c.of(phone, rev), door, now)
	switch mode {
	case "closed":
		return ruling{reasons: []vocab.Reason{vocab.ClosedWindow}, moot: !r.allow}
	case "free":
		return ruling{allow: true, reasons: []vocab.Reason{vocab.FreeWindow}, moot: r.allow}
	}
	return r
}

// clausesOf are the guarantees that a decision of the server exercises.
func (r ruling) clausesOf() []string {
	switch {
	case r.reasons[0] == vocab.LinkInvalid:
		return []string{"PERM-4", "ENT-1", "ENT-3"}
	case r.byWindow():
		return []string{"ENT-2", "ENT-3"}
	case r.allow && len(r.credits) > 0:
		return []string{"PERM-1", "ENT-1", "ENT-3"}
	}
	return []string{"ENT-1", "ENT-3"}
}

// judgeServed compares the server's action with the rulings, if these agree.
func (v *View) judgeServed(b *served, d *deciding) bool {
	r, ok := d.agreed()
	if !ok || d.ambig {
		return false
	}
	var reasons []vocab.Reason
	var doors []string
	for _, o := range d.rulings {
		reasons, doors = append(reasons, o.reasons...), append(doors, o.doors...)
	}
	b.take(r)
	d.credit = v.otherCredit(d)
	if o, ended := outcomeByCode[d.Code]; ended && slices.ContainsFunc(v.byDoor()[d.door], func(c *command) bool { return c.told(o) != nil }) {
		b.alike++
	}
	b.count(d, r)
	clauses := r.clausesOf()
	if state := stateOf(r); d.Route == linkRoute && state != "" { // [PERM-7]
		b.states[state] = true
		if state != "active" {
			clauses = append(clauses, "PERM-7")
		}
	}
	for _, clause := range clauses {
		b.of(clause).checked++
	}
	where := fmt.Sprintf("%s %s", d.Method, d.Route)
	switch {
	case d.opened() && !r.allow:
		b.breach(d.call, clauses, "%s: let in, but the reference denies: %s", where, r.reasons[0]) // [PERM-4] [ENT-1] [ENT-2] [ENT-3]
	case !d.opened() && r.allow:
		b.breach(d.call, clauses, "%s: denied for %s, but the reference opens: %s", where, cmp.Or(string(d.reason), "a reason that nobody was told"), r.reasons[0]) // [PERM-1] [ENT-1] [ENT-2] [ENT-3]
	case !d.opened() && d.Route == SIPRoute: // nobody says why
	case !d.opened() && !slices.Contains(reasons, d.reason):
		b.breach(d.call, []string{"ENT-3"}, "%s: denied for %s, but the reference says %s", where, d.reason, r.reasons[0]) // [ENT-3]
	case !d.opened() && d.elsewhere():
		b.breach(d.call, []string{"ENT-3"}, "%s: denied for %s at %s, but by the reference that is another door's reason", where, d.reason, cmp.Or(d.door, "no door")) // [ENT-3]
	case d.opened() && d.door != "" && len(doors) > 0 && !slices.Contains(doors, d.door):
		b.breach(d.call, []string{"ENT-1", "ENT-3"}, "%s: opened %s, but by the reference the caller gets %s", where, d.door, doors[0]) // [ENT-1] [ENT-3]
	case d.credit != "":
		b.breach(d.call, []string{"PERM-1", "ENT-1"}, "%s: let in by %s, but the reference credits %s", where, d.credit, r.credits[0]) // [PERM-1] [ENT-1]
	}
	return true
}

// outcomeByCode are the outcomes of commands by the codes of the entry page and of calls.
var outcomeByCode = map[string]vocab.Outcome{"store_offline": vocab.Offline, "device_refused": vocab.Refused, "device_no_response": vocab.NoResponse}

// stateOf is the state in which a permit has to be for its link's ruling; "" if that says nothing about it.
func stateOf(r ruling) string {
	switch {
	case r.allow && r.kind == "permit":
		return "active"
	case r.allow:
	case r.reasons[0] == vocab.NotStarted:
		return "pending"
	case r.reasons[0] == vocab.Expired:
		return "expired"
	}
	return ""
}

// methodOf is how people come in by a route.
var methodOf = map[string]string{linkRoute: "link", phoneRoute: "phone", SIPRoute: "phone"}

// linkStatus are the statuses of what a press is answered, by code.
var linkStatus = map[string]int{"": 200, "link_invalid": 404, "entry_denied": 409, "store_offline": 503, "device_refused": 502, "device_no_response": 504}

// endedOtherwise is what is wrong if no command of the same kind for the door ended as the answer says, "" if one did: during
// the call, or during the one whose answer it shares. An answer may be shared over a restart, and what the previous run
// did needn't be in the history.
func (v *View) endedOtherwise(d *deciding) string {
	if want := linkStatus[d.Code]; d.Route == linkRoute && d.Status != want {
		return fmt.Sprintf("answered with %d %s, but it should be %d", d.Status, d.Code, want)
	}
	near := func(s *history.Event) bool { return s.At >= d.since() && !v.before(d.Event, s) }
	starts := v.starts
	if v.begun == nil && len(starts) > 0 { // nothing was before the first
		starts = starts[1:]
	}
	if !d.opened() || !v.hasIntents || slices.ContainsFunc(starts, near) || v.begun != nil && near(v.begun) || v.endedAs(d, d.door, d.outcome) {
		return ""
	}
	return fmt.Sprintf("let in, but no command by %s for its door ended %s", methodOf[d.Route], d.outcome)
}

// since is the earliest time at which the command of a call may have been made.
func (d *deciding) since() int64 { return d.SentAt - sameMs - clockMs }

// endedAs reports whether a command of the same kind for a door ended so, during the call or during the one whose answer it shares.
func (v *View) endedAs(d *deciding, door string, o vocab.Outcome) bool {
	return slices.ContainsFunc(v.byDoor()[door], func(c *command) bool {
		told := c.told(o)
		if told == nil || len(c.intents) == 0 || c.intents[0].Method != methodOf[d.Route] {
			return false
		}
		e := c.intents[0]
		shared := e.At >= d.since() || !v.before(told, d.started())
		return shared && !v.before(d.Event, e)
	})
}
