package auth

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/must"
)

// elsewhere is a store in which another process revokes keys.
type elsewhere struct {
	Store
	revoked []string
}

func (e *elsewhere) RevokedKeys() ([]string, error) { return e.revoked, nil }

// TestRevokedElsewhere: a revocation by another process takes effect within 5 s [AUTH-5].
func TestRevokedElsewhere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		st := &elsewhere{}
		s := must.Get(New(Config{Clock: clock.Real{}, Store: st, SigningKey: []byte("k")}))(t)
		token := must.Get(s.sign(Principal{KeyID: "key_1", PlaceID: "plc_1"}))(t)
		st.revoked = []string{"key_1"}
		time.Sleep(5 * time.Second) // the bubble's time
		if _, err := s.Verify(token.AccessToken); !errors.Is(err, ErrTokenInvalid) {
			t.Errorf("got %v, want %v", err, ErrTokenInvalid)
		}
	})
}
