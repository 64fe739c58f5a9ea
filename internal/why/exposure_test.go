package why

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

// TestExposure: exactly the people who entered with a right that had been revoked meanwhile are listed.
func TestExposure(t *testing.T) {
	t.Parallel()
	p := outage()
	p.presented(minute+30_000, "ann", "pmt", "onsite", 0)       // before the revocation
	p.presented(2*minute+1, "ann", "pmt", "onsite", 1)          // during the outage, still valid
	p.presented(3*minute, "ann", "pmt", "onsite", minute)       // revoked at this very moment
	p.presented(33*minute, "ann", "pmt", "onsite", 31*minute)   // half an hour later
	p.presented(34*minute, "bob", "", "free_window", 32*minute) // the board still had a free window
	p.add(35*minute, history.Event{Kind: history.Presented, BoardID: "brd", DoorID: "dor", Result: "denied", Reason: "no_valid_grant", PhoneHash: "bob"})
	record := Entered{At: time.UnixMilli(t0 + 33*minute), DoorID: "dor", GrantID: "pmt", Actor: "010-****-1234"}
	foreign := Entered{At: time.UnixMilli(t0 + 36*minute), BoardID: "brd_real", DoorID: "dor", GrantID: "pmt", Reason: "onsite", Actor: "010-****-9999", Late: true}
	before := Entered{At: time.UnixMilli(t0 - minute), BoardID: "brd_real", DoorID: "dor", GrantID: "pmt"}
	var got []string
	for _, x := range p.tl.Exposure([]Entered{record, foreign, before}) {
		after := -1.0
		if x.ExposedSec != nil {
			after = *x.ExposedSec
		}
		got = append(got, text([]any{x.At, x.Actor, x.Reason, after, x.Offline}))
	}
	want := []string{
		`["2026-10-05T00:03:00.000Z","","revoked",0,true]`,
		`["2026-10-05T00:33:00.000Z","010-****-1234","revoked",1800,true]`,
		`["2026-10-05T00:34:00.000Z","","no_valid_grant",-1,true]`,
		`["2026-10-05T00:36:00.000Z","010-****-9999","revoked",1980,true]`,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("exposure:\n got %v\nwant %v", got, want)
	}
	// A second valid grant of the same person means that there was no exposure.
	p.grant(2*minute, access.Grant{ID: "mem", Kind: access.KindMembership, PhoneHash: "ann", Doors: []string{"dor"}, StartsAt: t0})
	for _, x := range p.tl.Exposure(nil) {
		if x.GrantID != nil {
			t.Errorf("a member entered: got %+v, want no exposure", x)
		}
	}
}

// TestExposureIsDated: an exposure begins with the change that took the right away, not with a later one of the same
// content.
func TestExposureIsDated(t *testing.T) {
	t.Parallel()
	window := func(door, mode string) access.Window {
		return access.Window{ID: "pol", DoorID: door, Ref: access.RefAlways, Mode: mode}
	}
	for name, c := range map[string]struct {
		change func(*tape)
		grant  string
		want   float64 // s
	}{
		"another door's windows changed later": {func(p *tape) { p.windows(4*minute, window("dor_2", access.ModeClosed)) }, "pmt", 1800},
		"the revoked permit changed once more": {func(p *tape) { g := revoked(permit("pmt")); g.EndsAt++; p.grant(4*minute, g) }, "pmt", 1800},
		"the revoked permit left the content": {func(p *tape) {
			p.rev++
			p.add(4*minute, history.Event{Kind: history.Content, Op: history.ContentRemoved, GrantID: "pmt"})
		}, "pmt", 1800},
		"the permit came back and went again":   {func(p *tape) { p.grant(4*minute, permit("pmt")); p.grant(5*minute, revoked(permit("pmt"))) }, "pmt", 1680},
		"a closed window came after revocation": {func(p *tape) { p.windows(4*minute, window("dor", access.ModeClosed)) }, "pmt", 1800},
		"another person's permit changed": {func(p *tape) {
			g := permit("pmt_2")
			g.PhoneHash = "bob"
			p.grant(4*minute, g)
		}, "pmt", 1800},
		"the free window ended": {func(p *tape) {
			p.grant(3*minute+30_000, permit("pmt_3"))
			p.windows(4*minute, window("dor", access.ModeFree))
			p.board(4*minute+1000, history.Applied, p.rev, 0)
			p.grant(5*minute, revoked(permit("pmt_3")))
			p.windows(6 * minute)
			p.windows(7*minute, window("dor_2", access.ModeClosed))
		}, "", 1620},
	} {
		p := outage()
		c.change(p)
		p.presented(33*minute, "ann", c.grant, "onsite", 31*minute)
		got := p.tl.Exposure(nil)
		if len(got) != 1 || got[0].ExposedSec == nil || *got[0].ExposedSec != c.want {
			t.Errorf("%s: got %s, want one exposure of %v s", name, text(got), c.want)
		}
	}
}

// TestExposureByLink: a link that is dead at the server is an exposure even if its person has another grant; one that is
// valid there is none, whatever made the board open.
func TestExposureByLink(t *testing.T) {
	t.Parallel()
	by := func(p *tape, link, grant string, reason vocab.Reason) {
		p.add(33*minute, history.Event{Kind: history.Presented, BoardID: "brd", DoorID: "dor", Result: "opened", Reason: reason, GrantID: grant, TokenHash: link,
			Revision: 1, OutageAgeMs: 31 * minute})
	}
	for name, c := range map[string]struct {
		change func(*tape)
		want   string // reason and seconds; "" = no exposure
	}{
		"a member's dead link": {func(p *tape) {
			p.grant(2*minute, access.Grant{ID: "mem", Kind: access.KindMembership, PhoneHash: "ann", Doors: []string{"dor"}, StartsAt: t0})
			by(p, "link-pmt", "pmt", "onsite")
		}, "link_invalid 1800"},
		"a valid link and the board's free window": {func(p *tape) {
			g := permit("pmt_2")
			g.PhoneHash = "bob"
			p.grant(2*minute, g)
			by(p, "link-pmt_2", "", "free_window")
		}, ""},
		"a dead link and a free window that the server has, too": {func(p *tape) {
			p.windows(2*minute, access.Window{ID: "pol", DoorID: "dor", Ref: access.RefAlways, Mode: access.ModeFree})
			by(p, "link-pmt", "", "free_window")
		}, "link_invalid 1800"},
	} {
		p := outage()
		c.change(p)
		got := ""
		for _, x := range p.tl.Exposure(nil) {
			got += fmt.Sprintf("%s %v", x.Reason, *x.ExposedSec)
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// TestActorsOfOneMoment: two people who enter through a free window in the same millisecond of a stopped clock each keep
// their record's actor.
func TestActorsOfOneMoment(t *testing.T) {
	t.Parallel()
	p := outage()
	var records []Entered
	for _, who := range []string{"bob", "eve"} {
		p.presented(33*minute, who, "", "free_window", 31*minute)
		records = append(records, Entered{At: time.UnixMilli(t0 + 33*minute), DoorID: "dor", Actor: "guest:" + who})
	}
	var got []string
	for _, x := range p.tl.Exposure(records) {
		got = append(got, x.Actor)
	}
	if want := []string{"guest:bob", "guest:eve"}; !reflect.DeepEqual(got, want) {
		t.Errorf("actors: got %q, want %q", got, want)
	}
}
