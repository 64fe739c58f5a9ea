package grant

import (
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/shard"
)

// TestOldLinksStay: a link issued before links had labels is shown and found unchanged until the permit gets a new
// one.
func TestOldLinksStay(t *testing.T) {
	t.Parallel()
	s := New(Config{Secret: []byte("secret")})
	g := Grant{ID: "pmt_1", PlaceID: "plc_1", Generation: 1}
	old := s.digits(&g, 1)
	g.LinkHash, g.TokenHash = HashLink(old), "what boards have"
	was := g
	if s.link(&g); g.LinkHash != was.LinkHash || g.TokenHash != was.TokenHash {
		t.Errorf("registered again, the link's hashes are %s and %s, want those it had", g.LinkHash, g.TokenHash)
	}
	if got := s.token(&g, g.Generation); got != old {
		t.Errorf("the permit shows %q, want the link that it has, %q", got, old)
	}
	g.Generation++
	s.link(&g)
	got := s.token(&g, g.Generation)
	if g.LinkHash != HashLink(got) || !strings.HasPrefix(got, shard.Label("plc_1")) {
		t.Errorf("its next link is %q, want one that begins with its place's label and is found", got)
	}
}
