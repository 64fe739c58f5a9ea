package auth

import (
	"crypto/sha256"
	"fmt"
	"testing"
)

// However many tokens there are, those that are used stay known and the memory is bounded.
func TestKnown(t *testing.T) {
	t.Parallel()
	var k known
	sum := func(i int) [sha256.Size]byte { return sha256.Sum256([]byte(fmt.Sprint(i))) }
	for i := range 5 * mostKnown {
		k.put(sum(i), good{who: Principal{KeyID: fmt.Sprint(i)}})
		if g, ok := k.get(sum(0)); !ok || g.who.KeyID != "0" {
			t.Fatalf("after %d others: %v %q, want the token that is used all the time", i, ok, g.who.KeyID)
		}
	}
	if n := len(k.now) + len(k.old); n > 2*mostKnown {
		t.Errorf("%d tokens are known, want at most %d", n, 2*mostKnown)
	}
	if _, ok := k.get(sum(1)); ok {
		t.Error("a token that nobody used for long is known, want it forgotten")
	}
}
