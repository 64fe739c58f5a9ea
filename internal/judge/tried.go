package judge

import (
	"maps"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

// What a promise is about has to have happened. Otherwise a file about the promise has shown nothing, however much its
// checker saw.

// tried notes that the promise was put to the test n times; what describes what is missing if n is 0.
func (v Verdict) tried(n int, what string) Verdict {
	if n == 0 {
		v.Untried = append(v.Untried, what)
	}
	return v
}

// about withdraws a PASS if there was no case of what the promise is about: what else a checker looks at (policies,
// pulses, the windows of a content) is held, too, but it isn't evidence for the promise.
func (v Verdict) about(cases int) Verdict {
	if v.Status == Pass && cases == 0 {
		v.Status, v.Number, v.Checked = Skipped, notExercised, 0
	}
	return v
}

// triedIf is tried, if the evidence for it can exist: a history from clients alone doesn't have it.
func (v Verdict) triedIf(told bool, n int, what string) Verdict {
	if !told {
		return v
	}
	return v.tried(n, what)
}

// sight is a case that a promise names, and how often it was seen.
type sight struct {
	n    int
	what string
}

// shows notes which of the cases that the promise names nobody saw.
func (v Verdict) shows(cases ...sight) Verdict {
	for _, c := range cases {
		if c.n == 0 {
			v.Unseen = append(v.Unseen, c.what)
		}
	}
	return v
}

// showsIf is shows, if the evidence for the cases can exist: a history from clients alone doesn't have it.
func (v Verdict) showsIf(told bool, cases ...sight) Verdict {
	if !told {
		return v
	}
	return v.shows(cases...)
}

// weighed counts decisions as the reference decides them.
type weighed struct {
	let, kept int             // by a grant, for want of one
	windowed  int             // by a window, and without it they would have been others
	freed     int             // of those, let in by a free one
	despite   int             // let in by a grant although another one opens nothing
	kinds     map[string]bool // of the grants that let somebody in
}

// differ is how often it made a difference which grant somebody had: nobody was let in without a
// valid one, or by one of several kinds, or although another was revoked or over.
func differ(all ...*weighed) (n int) {
	kinds := map[string]bool{}
	for _, w := range all {
		n += w.kept + w.despite
		maps.Copy(kinds, w.kinds)
	}
	return n + max(0, len(kinds)-1)
}

func (w *weighed) take(r ruling) {
	switch {
	case len(r.reasons) > 0 && r.reasons[0] == vocab.LinkInvalid: // a dead link says nothing about grants
	case r.byWindow() && r.moot:
	case r.byWindow():
		w.windowed++
		if r.allow {
			w.freed++
		}
	case r.allow:
		w.let++
		if r.despite {
			w.despite++
		}
		if r.kind != "" {
			each.Put(&w.kinds, r.kind, true)
		}
	default:
		w.kept++
	}
}

// answered counts what the reference can't judge because it doesn't know the person: a caller who may have been imported.
// Other answers that it can't judge would be right either way, and count for nothing; nor does a link that nobody was
// given say anything about people.
func (v *View) answered(s *served, c *call) {
	switch {
	case !c.rings() || c.out("result") == "" || !v.unattributed(c):
	case c.out("result") != string(vocab.Denied):
		s.let, s.untold = s.let+1, append(s.untold, c)
	case c.out("reason") != string(vocab.ClosedWindow) && c.Route != SIPRoute: // which isn't told a reason
		s.kept, s.untold = s.kept+1, append(s.untold, c)
	}
}

// unattributed reports whether nobody can say who called.
func (v *View) unattributed(c *call) bool {
	p := v.places[c.PlaceID]
	if p == nil {
		return false
	}
	_, known := v.second().caller(p, c)
	return !known
}

// latest are the last events, by what they are about.
type latest map[string]*history.Event

func (l latest) see(id string, e *history.Event) {
	if l[id] == nil || sooner(l[id], e) {
		l[id] = e
	}
}

// ended are the commands that ended this way without having asked for it: the test place ends a command as its reason
// says, without a board.
func (v *View) ended(o vocab.Outcome) []Occasion { return v.endings(o, false) }

// endings are the commands that ended this way, with those that asked for something or without.
func (v *View) endings(o vocab.Outcome, asked bool) (out []Occasion) {
	for _, c := range v.order {
		if len(out) > mostOccasions { // more than anybody asks for
			break
		}
		if told := c.told(o); told != nil && (asked || !c.simulated(v, "")) {
			to := told.WallNs
			for _, e := range c.answers { // a replay tells it again
				if e.Outcome == o {
					to = max(to, e.WallNs)
				}
			}
			out = append(out, v.given(c, to))
		}
	}
	return out
}

// looked are the last looks at what boards have, or at how far a permit has come, by place; "" = at all boards.
func (v *View) looked() map[string][]*history.Event {
	boards, permits := latest{}, latest{}
	for _, e := range v.looks {
		if e.Text != lookAtJournal {
			boards.see(e.PlaceID, e)
		}
	}
	for _, c := range v.calls() {
		if c.ok() && c.Method == "GET" && c.Route == createRoute+"/{id}" {
			permits.see(v.placeOf(c), c.Event)
		}
	}
	out := map[string][]*history.Event{}
	for _, of := range []latest{boards, permits} {
		for place, e := range of {
			out[place] = append(out[place], e)
		}
	}
	return out
}
