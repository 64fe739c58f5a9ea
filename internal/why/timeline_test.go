package why

import (
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

// TestToldLate: a recording that begins while permits change tells a change before the content that it replaced; the
// newer one counts.
func TestToldLate(t *testing.T) {
	t.Parallel()
	p := newTape()
	old, revoked := permit("pmt"), permit("pmt")
	revoked.Revoked = true
	for _, e := range []history.Event{{Revision: 7, Text: text(revoked)}, {Revision: 6, Text: text(old)}} {
		e.Kind, e.Op, e.GrantID, e.At, e.PlaceID = history.Content, history.ContentGrant, "pmt", t0, "plc"
		p.tl.Add(&e)
	}
	if got := p.tl.serverAt(t0); !got.grants["pmt"].Revoked || got.rev != 7 {
		t.Errorf("the server's content: %+v, want the permit as revoked, at revision 7", got)
	}
	if got, _ := p.tl.copyOf(6); got.grants["pmt"].Revoked {
		t.Error("a board at revision 6 has the permit as revoked, want it valid")
	}
}

// TestLeft: a permit that ended long ago has left the boards' content, but not the server; whether the recording or only
// the server's store knows it makes no difference.
func TestLeft(t *testing.T) {
	t.Parallel()
	now := 90 * 24 * hour
	ask := func(p *tape, phone, token string, left ...Left) Answer {
		return p.tl.Ask(Question{DoorID: "dor", BoardID: "brd", At: time.UnixMilli(t0 + now), PhoneHash: phone, TokenHash: token, Left: left})
	}
	over := permit("pmt")
	leave := func(p *tape, at int64) {
		p.rev++
		p.add(at, history.Event{Kind: history.Content, Op: history.ContentRemoved, GrantID: over.ID})
		p.board(at, history.Applied, p.rev, 0)
	}
	recorded := newTape()
	recorded.grant(0, over)
	recorded.board(0, history.Online, 1, 0)
	leave(recorded, 10*24*hour)
	late := newTape()
	late.board(0, history.Online, 0, 0)
	for name, p := range map[string]*tape{"in the recording": recorded, "in the store": late} {
		var left []Left
		if p == late {
			left = []Left{{Grant: over, Since: t0 - hour}}
		}
		byPhone, byLink := ask(p, "ann", "", left...), ask(p, "", "link-pmt", left...)
		if byPhone.Server.Reason != vocab.Expired || byPhone.Board.Reason != vocab.NoValidGrant {
			t.Errorf("%s, a phone: the server says %s, the board %s, want expired and no_valid_grant", name, byPhone.Server.Reason, byPhone.Board.Reason)
		}
		if byLink.Server.Reason != vocab.Expired || byLink.Board.Reason != vocab.LinkInvalid {
			t.Errorf("%s, a link: the server says %s, the board %s, want expired and link_invalid", name, byLink.Server.Reason, byLink.Board.Reason)
		}
	}
	if says := ask(recorded, "", "link-pmt").Sentence(); !strings.Contains(says, "it no longer has permit pmt, which ended long ago") {
		t.Errorf("a link that isn't revoked: %s", says)
	}
	if got := ask(late, "ann", "", Left{Grant: over, Since: t0 + now + 1}); got.Server.Reason != vocab.NoValidGrant {
		t.Errorf("a permit that was changed later: %s, want no_valid_grant", got.Server.Reason)
	}
	changed := newTape() // registered again with a period long past, so it left while it was in force
	changed.grant(0, over)
	leave(changed, hour)
	if a := changed.ask(2*hour, "ann", ""); a.Server.Allow {
		t.Errorf("a permit that is over now: the server lets in by %v", *a.Server.GrantID)
	}
}

// TestLinkNotThereYet: a board that is offline doesn't know a link that was issued since; it wasn't revoked.
func TestLinkNotThereYet(t *testing.T) {
	t.Parallel()
	p := newTape()
	p.board(0, history.Online, 0, 0)
	p.board(minute, history.Offline, 0, 0)
	p.grant(2*minute, permit("pmt"))
	again := permit("pmt")
	again.TokenHash = "another"
	for at, want := range map[int64]string{minute: "For a call or a link the server decides, and it doesn't open the door: it doesn't know the link of permit pmt yet.",
		3 * minute: "On site, board brd doesn't open the door: it doesn't know the link of permit pmt yet;"} {
		if says := p.ask(at, "", "link-pmt").Sentence(); !strings.Contains(says, want) {
			t.Errorf("after %d ms: %s, want %s", at, says, want)
		}
	}
	p.grant(4*minute, revoked(permit("pmt")))
	p.grant(5*minute, again)
	a := p.ask(6*minute, "", "link-pmt")
	if en, ko := a.Server.denied(); en != "the link of permit pmt was revoked" || !strings.Contains(ko, "철회") {
		t.Errorf("the old link: %s, %s", en, ko)
	}
	if en, ko := a.Board.denied(); en != "it doesn't know the link of permit pmt yet" || !strings.Contains(ko, "아직 몰라서") {
		t.Errorf("the old link on site: %s, %s", en, ko)
	}
}
