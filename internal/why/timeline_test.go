package why

import (
	"testing"

	"github.com/doorlab/doorlab/internal/history"
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
