package why

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

// Timeline is what a recording contains about one place: its content at each revision, what each board had, and who
// presented themselves. The zero value with a PlaceID is empty.
type Timeline struct {
	PlaceID string
	// Until ends it with the presentation behind a line of a board's journal, so that nothing that came later counts, not
	// even within the same millisecond; nil = it goes on.
	Until *Line

	steps  []step
	mixed  bool  // steps aren't in the order of their revisions yet
	base   int64 // the first completely known revision; 0 = none yet
	since  int64 // ... and since when, Unix ms
	boards map[string][]history.Event
	tries  []history.Event // Presented; RecordIn of calls and links
	at     *history.Event  // the presentation that Until names
}

// Line is a line of a board's journal.
type Line struct {
	BoardID string
	Seq     int64
}

// Presentation is what Until names; nil = the recording doesn't have it.
func (t *Timeline) Presentation() *history.Event { return t.at }

// step is one change of the place's content.
type step struct {
	at, rev int64
	op, id  string
	grant   access.Grant
	windows []access.Window
	hours   access.Hours
}

// Add processes an event; those of other places, and what comes after Until, are ignored.
func (t *Timeline) Add(e *history.Event) {
	if e.PlaceID != t.PlaceID || t.at != nil {
		return
	}
	switch e.Kind {
	case history.Content:
		t.content(e)
	case history.Applied, history.Online, history.Offline, history.Wiped, history.Detached, history.Attached:
		if t.boards == nil {
			t.boards = map[string][]history.Event{}
		}
		t.boards[e.BoardID] = append(t.boards[e.BoardID], *e)
	case history.Presented:
		t.tries = append(t.tries, *e)
		if u := t.Until; u != nil && e.BoardID == u.BoardID && e.JournalSeq == u.Seq {
			t.at = &t.tries[len(t.tries)-1]
		}
	case history.RecordIn:
		if by := vocab.Method(e.Method); by == vocab.Phone || by == vocab.Link {
			t.tries = append(t.tries, *e)
		}
	}
}

func (t *Timeline) content(e *history.Event) {
	s := step{at: e.At, rev: e.Revision, op: e.Op, id: e.GrantID}
	var err error
	switch e.Op {
	case history.ContentGrant:
		err = json.Unmarshal([]byte(e.Text), &s.grant)
	case history.ContentWindows:
		err = json.Unmarshal([]byte(e.Text), &s.windows)
	case history.ContentHours:
		err = json.Unmarshal([]byte(e.Text), &s.hours)
	case history.ContentBase:
		if t.since == 0 {
			t.base, t.since = e.Revision, e.At
		}
		return
	}
	if err == nil { // our own events always decode
		n := len(t.steps)
		t.mixed = t.mixed || n > 0 && t.steps[n-1].rev > s.rev
		t.steps = append(t.steps, s)
	}
}

// inOrder are the steps by revision: a recording that begins under way may tell a commit before the content that it
// changed, and one that goes on over a restart tells everything again.
func (t *Timeline) inOrder() []step {
	if t.mixed {
		slices.SortStableFunc(t.steps, func(a, b step) int { return cmp.Compare(a.rev, b.rev) })
		t.mixed = false
	}
	return t.steps
}

// Since is since when the place's content is known, Unix ms; 0 = not at all.
func (t *Timeline) Since() int64 { return t.since }

// content is what a place, or a board, holds at one revision.
type content struct {
	rev     int64
	grants  map[string]access.Grant
	windows []access.Window
	hours   access.Hours
}

func (t *Timeline) empty() content {
	return content{rev: t.base, grants: map[string]access.Grant{}}
}

// take is the next step.
func (c *content) take(s step) {
	switch s.op {
	case history.ContentGrant:
		c.grants[s.id] = s.grant
	case history.ContentRemoved:
		delete(c.grants, s.id)
	case history.ContentWindows:
		c.windows = s.windows
	case history.ContentHours:
		c.hours = s.hours
	}
	c.rev = max(c.rev, s.rev)
}

// serverAt is what the server knows at a time: the content, and the grants that have left it because they were over. One
// that leaves in force was changed to a period long past; of that the recording tells nothing.
func (t *Timeline) serverAt(at int64) content {
	c := t.empty()
	for _, s := range t.inOrder() {
		if s.at > at {
			continue
		}
		g, had := c.grants[s.id]
		c.take(s)
		if s.op == history.ContentRemoved && had && (g.Revoked || g.EndsAt != 0 && g.EndsAt <= s.at) {
			c.grants[s.id] = g
		}
	}
	return c
}

// revisionAt is the revision of the server's content at a time.
func (t *Timeline) revisionAt(at int64) int64 {
	rev := t.base
	for _, s := range t.inOrder() {
		if s.at <= at {
			rev = max(rev, s.rev)
		}
	}
	return rev
}

// copyOf is what a board at a revision has; false if the recording begins after that revision.
func (t *Timeline) copyOf(rev int64) (content, bool) {
	if rev < t.base {
		return content{rev: rev}, false
	}
	c := t.empty()
	for _, s := range t.inOrder() {
		if s.rev <= rev {
			c.take(s)
		}
	}
	return c, true
}

// missing is when the first change after a revision was committed, up to at; 0 = there was none.
func (t *Timeline) missing(rev, at int64) int64 {
	for _, s := range t.inOrder() {
		if s.rev > rev && s.at <= at {
			return s.at
		}
	}
	return 0
}

// person lists all grants of a phone.
func (c content) person(phoneHash string) (out []access.Grant) {
	if phoneHash == "" {
		return nil
	}
	for _, g := range c.grants {
		if g.PhoneHash == phoneHash {
			out = append(out, g)
		}
	}
	return out
}

// link is the phone behind a token; false for an unknown or revoked link.
func (c content) link(tokenHash string) (phoneHash string, ok bool) {
	for _, g := range c.grants {
		if tokenHash != "" && g.TokenHash == tokenHash && !g.Revoked {
			return g.PhoneHash, true
		}
	}
	return "", false
}

// owner is the grant that a link belongs to, or the latest in the recording that it belonged to.
func (t *Timeline) owner(c content, tokenHash string) (g access.Grant, ok bool) {
	for _, held := range c.grants {
		if tokenHash != "" && held.TokenHash == tokenHash {
			return held, true
		}
	}
	for _, s := range t.inOrder() {
		if s.op == history.ContentGrant && tokenHash != "" && s.grant.TokenHash == tokenHash {
			g, ok = s.grant, true
		}
	}
	return g, ok
}

// issued is the revision at which a link came into being; 0 = not in the recording.
func (t *Timeline) issued(tokenHash string) int64 {
	for _, s := range t.inOrder() {
		if s.op == history.ContentGrant && s.grant.TokenHash == tokenHash {
			return s.rev
		}
	}
	return 0
}

// boardState is a board's state at a time.
type boardState struct {
	seen     bool // the recording knows the board
	online   bool
	since    int64 // of online or offline, Unix ms; 0 = not known
	applied  int64
	appliedM int64 // when it acknowledged that, Unix ms; 0 = not known
	over     bool  // decides nothing until it is synchronized: it came back after more than 36 h, or was wiped
	real     bool  // the simulated board is detached: a real one replaces it
}

// boardAt is a board's state at a time, as the server saw it.
func (t *Timeline) boardAt(boardID string, at int64) (b boardState) {
	for _, e := range t.boards[boardID] {
		if e.At > at {
			continue
		}
		b.seen = true
		switch e.Kind {
		case history.Applied:
			b.applied, b.appliedM, b.over = e.Revision, e.At, false
		case history.Online:
			b.online, b.since = true, e.At
			// A board whose content is current resumes within a round trip, and the server tells of no content that it applied.
			b.over = (b.over || access.OutageOver(e.OutageAgeMs)) && e.Revision < t.revisionAt(e.At)
			if b.applied != e.Revision {
				b.applied, b.appliedM = e.Revision, 0
			}
		case history.Offline:
			b.online, b.since = false, e.At
		case history.Wiped:
			b.applied, b.appliedM, b.over = 0, 0, true
		case history.Detached, history.Attached:
			b.real = e.Kind == history.Detached
		}
	}
	return b
}

// outageMs is the outage age at a time; -1 if the board decides nothing until it is synchronized. known is false if the
// outage began before the recording.
func (b boardState) outageMs(at int64) (ms int64, known bool) {
	switch {
	case b.over:
		return -1, true
	case b.online:
		return 0, true
	case b.since == 0:
		return 0, false
	}
	return at - b.since, true
}
