package why

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

const minute, hour = int64(60_000), int64(3_600_000)

// t0 is a Monday, 09:00 in Seoul.
var t0 = time.Date(2026, 10, 5, 0, 0, 0, 0, time.UTC).UnixMilli()

// tape records events of one place.
type tape struct {
	tl  Timeline
	rev int64
}

func newTape() *tape {
	p := &tape{tl: Timeline{PlaceID: "plc"}}
	p.add(0, history.Event{Kind: history.Content, Op: history.ContentHours, Text: text(access.Hours{Timezone: "Asia/Seoul"})})
	p.add(0, history.Event{Kind: history.Content, Op: history.ContentBase})
	return p
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func (p *tape) add(at int64, e history.Event) {
	e.At, e.PlaceID = t0+at, "plc"
	if e.Kind == history.Content {
		e.Revision = p.rev
	}
	p.tl.Add(&e)
}

func (p *tape) grant(at int64, g access.Grant) {
	p.rev++
	p.add(at, history.Event{Kind: history.Content, Op: history.ContentGrant, GrantID: g.ID, Text: text(g)})
}

func (p *tape) windows(at int64, ws ...access.Window) {
	p.rev++
	p.add(at, history.Event{Kind: history.Content, Op: history.ContentWindows, Text: text(ws)})
}

func (p *tape) board(at int64, kind string, rev, age int64) {
	p.add(at, history.Event{Kind: kind, BoardID: "brd", Revision: rev, OutageAgeMs: age})
}

func (p *tape) presented(at int64, phone, grant string, reason vocab.Reason, age int64) {
	p.add(at, history.Event{Kind: history.Presented, BoardID: "brd", DoorID: "dor", Result: "opened", Reason: reason, GrantID: grant, PhoneHash: phone, Revision: 1, OutageAgeMs: age})
}

func permit(id string) access.Grant {
	return access.Grant{ID: id, Kind: access.KindPermit, PhoneHash: "ann", TokenHash: "link-" + id, Doors: []string{"dor"}, StartsAt: t0, EndsAt: t0 + 72*hour}
}

func revoked(g access.Grant) access.Grant {
	g.Revoked, g.TokenHash = true, ""
	return g
}

func (p *tape) ask(at int64, phone, token string) Answer {
	return p.tl.Ask(Question{DoorID: "dor", BoardID: "brd", At: time.UnixMilli(t0 + at), PhoneHash: phone, TokenHash: token, Actor: "guest:*1234"})
}

// outage: a permit is registered and synced at 1 min, the board drops at 2 min, the permit is revoked at 3 min, and
// the board returns at 40 h.
func outage() *tape {
	p := newTape()
	p.board(0, history.Online, 0, 0)
	p.board(0, history.Applied, 0, 0)
	p.grant(1*minute, permit("pmt"))
	p.board(1*minute+1000, history.Applied, 1, 0)
	p.board(2*minute, history.Offline, 0, 0)
	p.grant(3*minute, revoked(permit("pmt")))
	return p
}

// TestSides: what each side decides, and based on what, at every stage of an outage.
func TestSides(t *testing.T) {
	t.Parallel()
	back := func(p *tape) {
		p.board(40*hour, history.Online, 1, 40*hour-2*minute)
	}
	synced := func(p *tape) {
		back(p)
		p.board(40*hour+1000, history.Applied, 2, 0)
	}
	for _, c := range []struct {
		name          string
		more          func(*tape)
		at            int64
		phone, token  string
		server, board string // reason; + = allowed
		age           float64
		behind        float64
		known         bool
	}{
		{"before it is registered", nil, minute - 1, "ann", "", "no_valid_grant", "no_valid_grant", 0, 0, true},
		{"registered, on its way", nil, minute, "ann", "", "+phone", "no_valid_grant", 0, 0, true},
		{"synchronized", nil, minute + 1000, "ann", "", "+phone", "+onsite", 0, 0, true},
		{"somebody else", nil, minute + 1000, "bob", "", "no_valid_grant", "no_valid_grant", 0, 0, true},
		{"by link", nil, minute + 1000, "", "link-pmt", "+link", "+onsite", 0, 0, true},
		{"revoked in the outage", nil, 4 * minute, "ann", "", "revoked", "+onsite", 120, 60, true},
		{"the dead link", nil, 4 * minute, "", "link-pmt", "link_invalid", "+onsite", 120, 60, true},
		{"an unknown link", nil, 4 * minute, "", "link-x", "link_invalid", "link_invalid", 120, 60, true},
		{"at exactly 36 h", nil, 2*minute + 36*hour, "ann", "", "revoked", "+onsite", 36 * 3600, 36*3600 - 60, true},
		{"over 36 h", nil, 2*minute + 36*hour + 1, "ann", "", "revoked", "outage_limit", 36*3600 + 0.001, 36*3600 - 60 + 0.001, true},
		{"back, not yet synchronized", back, 40*hour + 500, "ann", "", "revoked", "outage_limit", -1, 40*3600 - 180 + 0.5, true},
		{"back with current content", func(p *tape) { p.board(40*hour, history.Online, 2, 40*hour-2*minute) }, 40*hour + 500, "ann", "", "revoked", "revoked", 0, 0, true},
		{"synchronized again", synced, 40*hour + 1000, "ann", "", "revoked", "revoked", 0, 0, true},
		{"dropped before it was synchronized", func(p *tape) { back(p); p.board(40*hour+400, history.Offline, 1, 0) }, 40*hour + 500, "ann", "", "revoked", "outage_limit", -1,
			40*3600 - 180 + 0.5, true},
		{"back once more, still not synchronized", func(p *tape) {
			back(p)
			p.board(40*hour+100, history.Offline, 1, 0)
			p.board(40*hour+400, history.Online, 1, 300)
		}, 40*hour + 500, "ann", "", "revoked", "outage_limit", -1, 40*3600 - 180 + 0.5, true},
		{"wiped", func(p *tape) { p.board(90*1000, history.Wiped, 0, 0) }, 100_000, "ann", "", "+phone", "outage_limit", -1, 40, true},
		{"before the recording", nil, -1, "ann", "", "no_valid_grant", "no_valid_grant", 0, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := outage()
			if c.more != nil {
				c.more(p)
			}
			a := p.ask(c.at, c.phone, c.token)
			say := func(s Side) string {
				if s.Allow {
					return "+" + string(s.Reason)
				}
				return string(s.Reason)
			}
			if got := say(a.Server); got != c.server {
				t.Errorf("the server: got %s, want %s", got, c.server)
			}
			if got := say(a.Board); got != c.board {
				t.Errorf("the board: got %s, want %s", got, c.board)
			}
			if a.Board.Known != c.known || a.Server.Known != c.known {
				t.Errorf("known: got server %v, board %v, want %v", a.Server.Known, a.Board.Known, c.known)
			}
			if !c.known {
				return
			}
			if a.Copy.OutageAgeSec == nil || *a.Copy.OutageAgeSec != c.age {
				t.Errorf("outage age: got %v, want %v", a.Copy.OutageAgeSec, c.age)
			}
			if a.Copy.BehindSec != c.behind {
				t.Errorf("behind: got %v s, want %v s", a.Copy.BehindSec, c.behind)
			}
		})
	}
}

// TestGrantsAreExplained: each of a person's grants with the reason why it doesn't open, the credited one first, and
// the window that decided.
func TestGrantsAreExplained(t *testing.T) {
	t.Parallel()
	p := newTape()
	p.board(0, history.Online, 0, 0)
	elsewhere, later, over := permit("pmt_elsewhere"), permit("pmt_later"), permit("pmt_over")
	elsewhere.Doors = []string{"dor_2"}
	later.StartsAt = t0 + 10*hour
	over.EndsAt = t0 + 1
	for _, g := range []access.Grant{revoked(permit("pmt_revoked")), over, later, elsewhere} {
		p.grant(0, g)
	}
	p.grant(0, access.Grant{ID: "mem", Kind: access.KindMembership, PhoneHash: "ann", Doors: []string{"dor"}, StartsAt: t0})
	p.board(1, history.Applied, p.rev, 0)
	a := p.ask(minute, "ann", "")
	var got []string
	for _, g := range a.Board.Grants {
		got = append(got, g.GrantID+" "+string(g.State))
	}
	want := []string{"mem valid", "pmt_elsewhere door_out_of_scope", "pmt_later not_started", "pmt_over expired", "pmt_revoked revoked"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("grants: got %v, want %v", got, want)
	}
	if a.Server.GrantID == nil || *a.Server.GrantID != "mem" || *a.Server.Kind != access.KindMembership {
		t.Errorf("credited: got %v, want mem", a.Server.GrantID)
	}
	if a.Server.Window != nil || a.Server.Mode != access.ModeAuth {
		t.Errorf("window: got %v %s, want none and auth", a.Server.Window, a.Server.Mode)
	}
	p.windows(2*minute, access.Window{ID: "pol", DoorID: "dor", Ref: access.RefAlways, Mode: access.ModeClosed})
	a = p.ask(3*minute, "ann", "")
	if a.Server.Reason != vocab.ClosedWindow || a.Server.Window == nil || a.Server.Window.PolicyID != "pol" {
		t.Errorf("closed: got %s %v, want closed_window by pol", a.Server.Reason, a.Server.Window)
	}
	if a.Board.Window != nil || !a.Board.Allow {
		t.Errorf("the board decides from its copy: got %+v, want opened without a window", a.Board)
	}
}

// TestUnknownCopies: the board's side is unknown where the recording doesn't cover it.
func TestUnknownCopies(t *testing.T) {
	t.Parallel()
	p := newTape()
	p.tl.base = 5
	p.board(0, history.Applied, 3, 0)
	p.board(0, history.Online, 3, 0)
	if a := p.ask(minute, "ann", ""); a.Board.Known || !a.Server.Known {
		t.Errorf("a copy older than the recording: got board %v, server %v; want false, true", a.Board.Known, a.Server.Known)
	}
	p = newTape()
	if a := p.ask(minute, "ann", ""); a.Board.Known || a.Copy.Seen {
		t.Errorf("a board that never spoke: got known %v, seen %v; want neither", a.Board.Known, a.Copy.Seen)
	}
	p = outage()
	p.add(5*minute, history.Event{Kind: history.Detached, BoardID: "brd"})
	if a := p.ask(6*minute, "ann", ""); a.Board.Known || !a.Copy.Real {
		t.Errorf("a real board: got known %v, real %v; want false, true", a.Board.Known, a.Copy.Real)
	}
	var empty Timeline
	if a := empty.Ask(Question{DoorID: "dor", BoardID: "brd", At: time.UnixMilli(t0), PhoneHash: "ann"}); a.Server.Known {
		t.Error("an empty recording knows the server's side")
	}
}

// TestAttempts: the explanation also lists what actually happened.
func TestAttempts(t *testing.T) {
	t.Parallel()
	p := outage()
	p.presented(4*minute, "ann", "pmt", "onsite", 2*minute)
	p.presented(4*minute, "bob", "", "onsite", 2*minute)
	p.add(5*minute, history.Event{Kind: history.RecordIn, DoorID: "dor", Method: "phone", Result: "denied", Reason: "revoked", Actor: "guest:*1234"})
	p.add(5*minute, history.Event{Kind: history.RecordIn, DoorID: "dor", Method: "phone", Result: "opened", Reason: "phone", Actor: "guest:*9999"})
	p.add(5*minute, history.Event{Kind: history.RecordIn, DoorID: "dor", Method: "api", Result: "opened", Reason: "api", Actor: "guest:*1234"})
	a := p.ask(6*minute, "ann", "")
	var got []string
	for _, x := range a.Attempts {
		got = append(got, fmt.Sprint(x.Side, " ", x.Method, " ", x.Result, " ", x.Reason))
	}
	if want := []string{"server phone denied revoked", "board onsite opened onsite"}; !reflect.DeepEqual(got, want) {
		t.Errorf("attempts: got %v, want %v", got, want)
	}
	if a := p.ask(16*minute, "ann", ""); len(a.Attempts) != 0 {
		t.Errorf("eleven minutes later: got %v, want none", a.Attempts)
	}
}

// TestAttemptsOfAnother: phones that end in the same four digits look alike in records, but their first digits differ, or
// the grants that let them in.
func TestAttemptsOfAnother(t *testing.T) {
	t.Parallel()
	p := outage()
	other := permit("other")
	other.PhoneHash = "bob"
	p.grant(2*minute, other)
	for grant, label := range map[string]string{"pmt": "010-****-1234", "other": "010-****-1234", "": "020-****-1234"} {
		p.add(5*minute, history.Event{Kind: history.RecordIn, DoorID: "dor", Method: "phone", Result: "opened", Reason: "phone", Actor: "guest:*1234", Text: label, GrantID: grant})
	}
	a := p.tl.Ask(Question{DoorID: "dor", BoardID: "brd", At: time.UnixMilli(t0 + 6*minute), PhoneHash: "ann", Actor: "guest:*1234", Label: "010-****-1234"})
	if len(a.Attempts) != 1 || a.Attempts[0].GrantID == nil || *a.Attempts[0].GrantID != "pmt" {
		t.Errorf("got %+v, want only the one with pmt", a.Attempts)
	}
}
