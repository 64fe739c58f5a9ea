// Package why explains decisions about entry: which grant, window and side decided, how old the board's copy was, and
// who entered on site with a right that the server had already taken away. It is pure: a Timeline is built from a
// recording of the history, and every question is put to access.Decide again. The composition (testbed) feeds it; the
// control API and the command line show the answers.
package why

import (
	"cmp"
	"slices"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

// Question is about one person, door and time.
type Question struct {
	DoorID    string
	BoardID   string
	At        time.Time
	PhoneHash string // of the person ...
	TokenHash string // ... or of the link that is presented; exactly one is set
	Actor     string // masked, as in records; "" = records aren't searched
	Label     string // masked, with the first digits; "" = any
	Left      []Left // the person's grants that only the server knows
}

// Left is a grant that isn't in the boards' content, because it ended long ago. The server still knows it.
type Left struct {
	access.Grant
	Since int64 // when it was last changed, Unix ms
}

// Sides.
const (
	Server = "server" // decides about calls and links
	Board  = "board"  // decides on site
)

// States of a grant at a door and a time, from the best to the furthest miss.
const (
	Valid = "valid"
)

// Answer explains what each side decides.
type Answer struct {
	At       string  `json:"at"`
	DoorID   string  `json:"doorId"`
	Server   Side    `json:"server"`
	Board    Side    `json:"board"`
	Copy     Copy    `json:"copy"`
	Attempts []Tried `json:"attempts"` // what really happened in the ten minutes before, newest first
}

// Explanation is the answer of the control API's GET /why. Of the person it shows only the ends of the phone.
type Explanation struct {
	PlaceID    string    `json:"placeId"`
	PlaceName  string    `json:"placeName"`
	DoorName   string    `json:"doorName"`
	Person     string    `json:"person"`
	By         string    `json:"by"`         // phone or link
	PhoneEntry string    `json:"phoneEntry"` // on, off or unassigned, as it is now
	KnownSince string    `json:"knownSince"` // the recording begins here
	Exposure   []Exposed `json:"exposure"`   // on this door's board, up to the time asked about
	Says       string    `json:"says"`
	Answer
}

// Sides are both, the server's first.
func (a *Answer) Sides() []Side { return []Side{a.Server, a.Board} }

// Side is one side's decision. Known is false if it lies outside the recording.
type Side struct {
	Side     string       `json:"side"`
	Known    bool         `json:"known"`
	Allow    bool         `json:"allow"`
	Reason   vocab.Reason `json:"reason"`
	GrantID  *string      `json:"grantId"`
	Kind     *string      `json:"kind"`
	Mode     string       `json:"mode"`     // of the door: auth, free, closed
	Window   *Window      `json:"window"`   // the window behind the mode; null = none in force
	Grants   []Grant      `json:"grants"`   // the person's, the best first
	LinkOf   *string      `json:"linkOf"`   // the permit that a presented link belongs to, or did
	Revision int64        `json:"revision"` // revision of the content decided on

	link linkState // of a presented link that isn't valid
}

// linkState is why a side doesn't accept a link.
type linkState int

const (
	linkDead  linkState = iota // its permit was revoked
	linkEarly                  // it was issued after what the side knows
	linkLeft                   // the side no longer has its permit, which ended long ago
)

// Window is the policy in force.
type Window struct {
	PolicyID string `json:"policyId"`
	Ref      string `json:"ref"`
	Mode     string `json:"mode"`
}

// Grant is one of the person's grants: valid, or why it doesn't open this door now.
type Grant struct {
	GrantID  string       `json:"grantId"`
	Kind     string       `json:"kind"`
	State    vocab.Reason `json:"state"` // valid door_out_of_scope not_started expired revoked
	StartsAt string       `json:"startsAt"`
	EndsAt   *string      `json:"endsAt"`
	DoorIDs  []string     `json:"doorIds"`
}

// Copy is how old the board's copy of the place was.
type Copy struct {
	BoardID        string   `json:"boardId"`
	Seen           bool     `json:"seen"` // the recording knows the board
	Online         bool     `json:"online"`
	OutageAgeSec   *float64 `json:"outageAgeSec"` // as the server saw it; null = not known; -1 = decides nothing until synchronized
	Revision       int64    `json:"revision"`
	ServerRevision int64    `json:"serverRevision"`
	AppliedAt      *string  `json:"appliedAt"`
	MissingSince   *string  `json:"missingSince"` // time of the first change that the board lacked; null = it had all
	BehindSec      float64  `json:"behindSec"`
	Real           bool     `json:"real"` // a real board replaces the simulated one: its copy isn't in the recording
}

// Tried is one attempt in the recording.
type Tried struct {
	At       string       `json:"at"`
	Side     string       `json:"side"`
	Method   vocab.Method `json:"method"`
	Result   vocab.Result `json:"result"`
	Reason   vocab.Reason `json:"reason"`
	GrantID  *string      `json:"grantId"`
	Revision *int64       `json:"revision"` // on site: of the board's copy
}

func stamp(ms int64) string { return time.UnixMilli(ms).UTC().Format(control.TimeFormat) }

func stampOrNil(ms int64) *string {
	if ms == 0 {
		return nil
	}
	return control.OrNull(stamp(ms))
}

// Ask answers a question. A time in the future is answered by the present state.
func (t *Timeline) Ask(q Question) Answer {
	at := q.At.UnixMilli()
	now := t.serverAt(at)
	a := Answer{At: stamp(at), DoorID: q.DoorID, Copy: t.copyAt(q.BoardID, at, now), Attempts: t.attempts(q, at)}
	method := vocab.Phone
	if q.TokenHash != "" {
		method = vocab.Link
	}
	for _, g := range q.Left {
		if _, have := now.grants[g.ID]; !have && g.Since <= at {
			now.grants[g.ID] = g.Grant
		}
	}
	a.Server = t.side(Server, now, q, method, 0)
	a.Server.Known = t.since != 0 && at >= t.since

	b := t.boardAt(q.BoardID, at)
	held, known := t.copyOf(b.applied)
	age, dated := b.outageMs(at)
	a.Board = t.side(Board, held, q, vocab.Onsite, age)
	a.Board.Known = a.Server.Known && known && dated && b.seen && !b.real
	return a
}

// side computes one side's decision from its content.
func (t *Timeline) side(side string, c content, q Question, method vocab.Method, outageMs int64) Side {
	phone, linkOK := q.PhoneHash, false
	s := Side{Side: side, Mode: access.ModeAuth, Grants: []Grant{}, Revision: c.rev}
	if q.TokenHash != "" {
		phone, linkOK = c.link(q.TokenHash)
		if g, ok := t.owner(c, q.TokenHash); ok {
			s.LinkOf = &g.ID
			phone = cmp.Or(phone, g.PhoneHash) // a dead link: its person's grants are shown anyway
			_, held := c.grants[g.ID]
			switch {
			case t.issued(q.TokenHash) > c.rev:
				s.link = linkEarly
			case !held:
				s.link = linkLeft
			}
		}
	}
	if w := access.InForce(c.windows, c.hours, q.DoorID, q.At); w != nil {
		s.Mode, s.Window = w.Mode, &Window{w.ID, w.Ref, w.Mode}
	}
	grants := c.person(phone)
	d := access.Decide(access.Question{Now: q.At, Method: method, DoorID: q.DoorID, Link: q.TokenHash != "", LinkOK: linkOK,
		Mode: s.Mode, Grants: grants, OutageMs: outageMs})
	s.Allow, s.Reason, s.GrantID, s.Kind = d.Allow, d.Reason, control.OrNull(d.Grant), control.OrNull(d.Kind)
	s.Grants = views(grants, q.DoorID, q.At.UnixMilli())
	return s
}

// rank orders the states of grants: what opens first, then the nearest miss.
var rank = map[vocab.Reason]int{Valid: 0, vocab.DoorOutOfScope: 1, vocab.NotStarted: 2, vocab.Expired: 3, vocab.Revoked: 4}

func views(grants []access.Grant, doorID string, now int64) []Grant {
	slices.SortFunc(grants, func(a, b access.Grant) int {
		if x, y := rank[state(a, doorID, now)], rank[state(b, doorID, now)]; x != y {
			return cmp.Compare(x, y)
		}
		if access.CreditBefore(a, b) {
			return -1
		}
		return 1
	})
	return each.Of(grants, func(g access.Grant) Grant {
		return Grant{GrantID: g.ID, Kind: g.Kind, State: state(g, doorID, now), StartsAt: stamp(g.StartsAt), EndsAt: stampOrNil(g.EndsAt), DoorIDs: g.Doors}
	})
}

// state is how access.Decide sees a single grant.
func state(g access.Grant, doorID string, now int64) vocab.Reason {
	switch {
	case g.ValidAt(now) && g.Opens(doorID):
		return Valid
	case g.ValidAt(now):
		return vocab.DoorOutOfScope
	case g.Revoked:
		return vocab.Revoked
	case now < g.StartsAt:
		return vocab.NotStarted
	}
	return vocab.Expired
}

func (t *Timeline) copyAt(boardID string, at int64, now content) Copy {
	b := t.boardAt(boardID, at)
	c := Copy{BoardID: boardID, Seen: b.seen, Online: b.online, Revision: b.applied, ServerRevision: now.rev, AppliedAt: stampOrNil(b.appliedM), Real: b.real}
	if missing := t.missing(b.applied, at); missing != 0 {
		c.MissingSince, c.BehindSec = stampOrNil(missing), float64(at-missing)/1000
	}
	if ms, known := b.outageMs(at); known {
		sec := float64(ms) / 1000
		if ms < 0 {
			sec = -1
		}
		c.OutageAgeSec = &sec
	}
	return c
}

// attemptsWithin is how far back Ask looks for actual attempts.
const attemptsWithin = 10 * time.Minute

func (t *Timeline) attempts(q Question, at int64) []Tried {
	out := []Tried{}
	for i := len(t.tries) - 1; i >= 0 && len(out) < 10; i-- {
		e := &t.tries[i]
		if e.DoorID != q.DoorID || e.At > at || at-e.At > attemptsWithin.Milliseconds() {
			continue
		}
		v := Tried{At: stamp(e.At), Side: Server, Method: vocab.Method(e.Method), Result: e.Result, Reason: e.Reason, GrantID: control.OrNull(e.GrantID)}
		if e.Kind == history.Presented {
			v.Side, v.Method, v.Revision = Board, vocab.Onsite, &e.Revision
			if q.TokenHash != "" && e.TokenHash != q.TokenHash || q.PhoneHash != "" && e.PhoneHash != q.PhoneHash {
				continue
			}
		} else if q.Actor == "" || e.Actor != q.Actor || q.Label != "" && e.Text != q.Label || t.ofAnother(e, q.PhoneHash) {
			continue
		}
		out = append(out, v)
	}
	return out
}

// ofAnother reports whether a record credits somebody else's grant: the last digits of two phones may be the same.
func (t *Timeline) ofAnother(e *history.Event, phoneHash string) bool {
	g, known := t.serverAt(e.At).grants[e.GrantID]
	return known && phoneHash != "" && g.PhoneHash != phoneHash
}
