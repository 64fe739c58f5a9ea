package why

import (
	"cmp"
	"slices"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

// Entered is an opening on site, from the boards' own history or, for a board that isn't simulated here, from its entry
// record.
type Entered struct {
	At        time.Time
	BoardAt   int64 // the board's own clock, Unix ms; 0 = At
	BoardID   string
	DoorID    string
	GrantID   string
	Reason    vocab.Reason // onsite or free_window
	PhoneHash string       // of the person ...
	TokenHash string       // ... or of the link that was presented; both "" in a record
	Actor     string       // masked
	Late      bool         // the board was offline
}

// Exposed is an opening on site that the server would have denied at that moment.
type Exposed struct {
	At          string       `json:"at"`
	BoardID     string       `json:"boardId"`
	DoorID      string       `json:"doorId"`
	Actor       string       `json:"actor"` // masked; "" = not known before the board's records arrive
	GrantID     *string      `json:"grantId"`
	Reason      vocab.Reason `json:"reason"`      // why the server would have denied it
	ChangedAt   *string      `json:"changedAt"`   // when the right was taken away
	ExposedSec  *float64     `json:"exposedSec"`  // how long after that the person entered
	Offline     bool         `json:"offline"`     // the board was offline; otherwise the change was still on its way
	Revision    int64        `json:"revision"`    // of the board's copy, 0 = not known
	ServerKnows int64        `json:"serverKnows"` // revision of the server at that moment

	PhoneHash string `json:"-"` // of the phone that was presented; "" for a link, and in a record
}

// presented are the openings on site that this process's boards reported to the history.
func (t *Timeline) presented() (out []Entered) {
	for i := range t.tries {
		e := &t.tries[i]
		if e.Kind == history.Presented && e.Result == vocab.Opened {
			out = append(out, Entered{At: time.UnixMilli(e.At).UTC(), BoardAt: e.BoardAt, BoardID: e.BoardID, DoorID: e.DoorID, GrantID: e.GrantID,
				Reason: e.Reason, PhoneHash: e.PhoneHash, TokenHash: e.TokenHash, Late: e.OutageAgeMs != 0})
		}
	}
	return out
}

// Exposure lists who entered on site, from entered and from Presented events, although the server would have denied it;
// oldest first. Openings before the recording are left out.
func (t *Timeline) Exposure(entered []Entered) []Exposed {
	out := []Exposed{}
	for _, e := range t.merge(entered) {
		at := e.At.UnixMilli()
		if t.since == 0 || at < t.since {
			continue
		}
		if x, ok := t.exposed(e, at); ok {
			out = append(out, x)
		}
	}
	slices.SortStableFunc(out, func(a, b Exposed) int { return cmp.Compare(a.At, b.At) })
	return out
}

// merge joins the boards' events with their records, which carry the time of the board's clock: the record knows the
// actor, the board the person.
func (t *Timeline) merge(entered []Entered) []Entered {
	type opening struct {
		door, grant string
		at          int64
	}
	of := func(e Entered) opening { return opening{e.DoorID, e.GrantID, cmp.Or(e.BoardAt, e.At.UnixMilli())} }
	out := t.presented()
	have := map[opening][]int{} // several, if the clock stood still
	for i, e := range out {
		have[of(e)] = append(have[of(e)], i)
	}
	for _, e := range entered {
		if same := have[of(e)]; len(same) > 0 {
			out[same[0]].Actor, have[of(e)] = e.Actor, same[1:]
		} else {
			out = append(out, e)
		}
	}
	return out
}

func (t *Timeline) exposed(e Entered, at int64) (Exposed, bool) {
	now := t.serverAt(at)
	phone := e.PhoneHash
	if g, ok := now.grants[e.GrantID]; ok && phone == "" {
		phone = g.PhoneHash
	}
	if g, ok := t.grant(e.GrantID); ok && phone == "" { // it has left the content
		phone = g.PhoneHash
	}
	if g, ok := t.owner(now, e.TokenHash); ok && phone == "" { // through a free window
		phone = g.PhoneHash
	}
	d := now.onsite(e, phone)
	if d.Allow {
		return Exposed{}, false
	}
	x := Exposed{At: stamp(at), BoardID: e.BoardID, DoorID: e.DoorID, Actor: e.Actor, GrantID: control.OrNull(e.GrantID), Reason: d.Reason,
		Offline: e.Late, Revision: t.boardAt(e.BoardID, at).applied, ServerKnows: now.rev, PhoneHash: e.PhoneHash}
	if changed := t.takenAway(x.Revision, at, e, phone); changed != 0 {
		sec := float64(at-changed) / 1000
		x.ChangedAt, x.ExposedSec = stampOrNil(changed), &sec
	}
	return x, true
}

// grant is a grant as last reported.
func (t *Timeline) grant(id string) (g access.Grant, ok bool) {
	for _, s := range t.inOrder() {
		if s.op == history.ContentGrant && s.id == id {
			g, ok = s.grant, true
		}
	}
	return g, ok
}

// onsite is what would have been decided on site from this content: about a link as about a link, though its person may
// have other grants.
func (c content) onsite(e Entered, phone string) access.Answer {
	q := access.Question{Now: e.At, Method: vocab.Onsite, DoorID: e.DoorID, Mode: access.Mode(c.windows, c.hours, e.DoorID, e.At)}
	if e.TokenHash != "" {
		q.Link = true
		phone, q.LinkOK = c.link(e.TokenHash)
	}
	q.Grants = c.person(phone)
	return access.Decide(q)
}

// takenAway is when the change was committed that turned the decision about an opening from yes to no, after the revision
// that the board had; the last one if the right came back in between, 0 if there was none.
func (t *Timeline) takenAway(rev, at int64, e Entered, phone string) (ms int64) {
	c, allowed := t.empty(), false
	for _, s := range t.inOrder() {
		if s.at > at {
			continue
		}
		theirs := s.grant.PhoneHash == phone || c.grants[s.id].PhoneHash == phone
		c.take(s)
		if s.id != "" && !theirs {
			continue // a grant of somebody else decides nothing
		}
		before := allowed
		if allowed = c.onsite(e, phone).Allow; before && !allowed && s.rev > max(rev, t.base) {
			ms = s.at
		}
	}
	return ms
}
