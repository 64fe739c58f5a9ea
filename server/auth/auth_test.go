package auth_test

import (
	"encoding/base64"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/doorlab/doorlab/internal/apikey"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/clock/clocktest"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/server/auth"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/store"
)

var epoch = time.Date(2026, 11, 1, 3, 0, 0, 0, time.UTC)

type house struct {
	*auth.Service
	t     *testing.T
	clk   *clock.Virtual
	store *store.Store
	key   string // a valid key
}

func newHouse(t *testing.T) *house {
	t.Helper()
	clk := clock.NewVirtual(epoch.Add(-time.Hour), nil)
	clk.Freeze()
	must.OK(t, clk.Advance(epoch))
	s := must.Get(store.Open(t.TempDir(), store.Options{Clock: clk}))(t)
	t.Cleanup(func() { _ = s.Close() })
	key := apikey.Derive(apikey.TestPrefix, "1", "plc_1", "k")
	if _, err := s.Seed(&world.World{Places: []world.Place{
		{ID: "plc_t", Name: "T", Kind: world.Test, Keys: []world.Key{{ID: "key_t", Name: "partner", Scopes: []string{auth.ScopePartner}, Sim: true, Secret: key}}},
		{ID: "plc_l", Name: "L", Kind: world.Live},
	}}, []byte("api keys")); err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, clk: clk, store: s, key: key}
	h.Service = h.service()
	return h
}

// service is a new instance of the service on the same data, as after a restart.
func (h *house) service() *auth.Service {
	s := must.Get(auth.New(auth.Config{Clock: h.clk, Store: h.store, Pepper: []byte("api keys"), SigningKey: []byte("tokens")}))(h.t)
	return s
}

func (h *house) pass(d time.Duration) {
	must.OK(h.t, h.clk.Advance(h.clk.Now().Add(d)))
}

func (h *house) token() string {
	h.t.Helper()
	tk := must.Get(h.Issue(h.key))(h.t)
	return tk.AccessToken
}

// exchange does what the API does: count, then issue.
func (h *house) exchange(addr, key string) (auth.Token, error) {
	if err := h.Admit(addr); err != nil {
		return auth.Token{}, err
	}
	return h.Issue(key)
}

func TestExchange(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	tk, err := h.exchange("192.0.2.1:1000", h.key)
	if err != nil || tk.ExpiresIn != 900 || tk.PlaceID != "plc_t" || len(tk.Scopes) != 1 {
		t.Fatalf(`got %+v, %v, want no error, tk.ExpiresIn = 900, tk.PlaceID = "plc_t", len(tk.Scopes) = 1`, tk, err)
	}
	p, err := h.Verify(tk.AccessToken)
	if err != nil || p.KeyID != "key_t" || p.KeyName != "partner" || p.PlaceKind != "test" || !p.Sim || !p.Has(auth.ScopePartner) || p.Has(auth.ScopeDoor) {
		t.Errorf("the token is of %+v, %v, want key_t, partner, of a test place, with sim and the partner's scope only", p, err)
	}
	if _, err := h.service().Verify(tk.AccessToken); err != nil {
		t.Errorf("after a restart: got %v, want the token still valid", err)
	}
	old, revoked, err := h.Create("plc_t", "old", []string{auth.ScopeDoor}, false)
	if err != nil {
		t.Fatal(err)
	}
	if ks, err := h.List("plc_t"); err != nil || len(ks) != 2 {
		t.Errorf("got %+v, %v, want no error, len(ks) = 2", ks, err)
	}
	must.OK(t, h.Revoke(old.ID))
	for name, key := range map[string]string{"empty": "", "malformed": "sact_nope", "typo": h.key[:20] + "x" + h.key[21:],
		"unknown": apikey.New(apikey.TestPrefix, "plc_1"), "revoked": revoked} {
		if _, err := h.exchange("192.0.2.1", key); !errors.Is(err, auth.ErrInvalidKey) {
			t.Errorf("%s: got %v, want err to be auth.ErrInvalidKey", name, err)
		}
	}
}

func TestTokenLife(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.pass(123 * time.Millisecond) // so that the time isn't a full second
	token := h.token()
	h.pass(auth.TokenLife - time.Millisecond)
	if _, err := h.Verify(token); err != nil {
		t.Errorf("at 899.999 s: got %v, want the token still valid", err)
	}
	h.pass(time.Millisecond)
	if _, err := h.Verify(token); !errors.Is(err, auth.ErrTokenExpired) {
		t.Errorf("at 900 s: got %v, want %v", err, auth.ErrTokenExpired)
	}
}

// TestTokenFromTheFuture: setting the machine's clock back doesn't make a token live longer. One minute is tolerated,
// because clocks are corrected all the time.
func TestTokenFromTheFuture(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	clk := &clocktest.Machine{}
	s := must.Get(auth.New(auth.Config{Clock: clk, Store: h.store, Pepper: []byte("api keys"), SigningKey: []byte("tokens")}))(t)
	token := must.Get(s.Issue(h.key))(t)
	for _, step := range []struct {
		back time.Duration
		want error
	}{{50 * time.Second, nil}, {time.Minute, auth.ErrTokenExpired}, {24 * time.Hour, auth.ErrTokenExpired}} {
		clk.Set(-step.back)
		if _, err := s.Verify(token.AccessToken); !errors.Is(err, step.want) {
			t.Errorf("the clock set back by %s: %v, want %v", step.back, err, step.want)
		}
	}
}

func TestForgedTokens(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	good := h.token()
	parts := strings.Split(good, ".")
	claims := jwt.MapClaims{"sub": "key_t", "place": "plc_l", "kind": "live", "iatMs": epoch.UnixMilli()}
	sign := func(m jwt.SigningMethod, key any, header map[string]any) string {
		tk := jwt.NewWithClaims(m, claims)
		maps.Copy(tk.Header, header)
		s := must.Get(tk.SignedString(key))(t)
		return s
	}
	var head struct{ Kid string }
	if tk, _, err := jwt.NewParser().ParseUnverified(good, jwt.MapClaims{}); err == nil {
		head.Kid, _ = tk.Header["kid"].(string)
	}
	kid := map[string]any{"kid": head.Kid}
	forged := map[string]string{
		"nothing": "", "garbage": "a.b.c", "a word": "hello",
		"other payload":   parts[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"key_t","place":"plc_l"}`)) + "." + parts[2],
		"no signature":    parts[0] + "." + parts[1] + ".",
		"other secret":    sign(jwt.SigningMethodHS256, []byte("guess"), kid),
		"other algorithm": sign(jwt.SigningMethodHS512, []byte("tokens"), kid),
		"none":            sign(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, kid),
		"other kid":       sign(jwt.SigningMethodHS256, []byte("tokens"), map[string]any{"kid": "x"}),
		"no kid":          sign(jwt.SigningMethodHS256, []byte("tokens"), nil),
	}
	for _, later := range []time.Duration{0, time.Hour} { // forged and expired counts as forged
		h.pass(later)
		for name, token := range forged {
			if _, err := h.Verify(token); !errors.Is(err, auth.ErrTokenInvalid) {
				t.Errorf("%s: got %v, want err to be auth.ErrTokenInvalid", name, err)
			}
		}
	}
}

func TestExchangeLimit(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for i := range 30 {
		key := h.key
		if i%2 == 1 {
			key = "failed ones count"
		}
		if _, err := h.exchange("192.0.2.7:1", key); err != nil && !errors.Is(err, auth.ErrInvalidKey) {
			t.Fatalf("exchange %d: got %v, want no limit yet", i+1, err)
		}
		h.pass(time.Second)
	}
	limited := func(addr string) time.Duration {
		t.Helper()
		var r *fail.Error
		if _, err := h.exchange(addr, h.key); errors.As(err, &r) && r.Code == fail.RateLimited {
			return r.RetryAfter
		} else if err != nil {
			t.Fatal(err)
		}
		return 0
	}
	for range 3 { // refused ones don't extend the limit
		if got := limited("192.0.2.7"); got != 30*time.Second {
			t.Errorf("31st: retry after %s, want %s", got, 30*time.Second)
		}
	}
	if limited("[::ffff:192.0.2.7]:99") == 0 {
		t.Error("the mapped form is the same address")
	}
	if limited("192.0.2.8") != 0 {
		t.Error("another address is another window")
	}
	h.pass(30*time.Second - time.Millisecond)
	if limited("192.0.2.7") != time.Millisecond {
		t.Error("refused to the last millisecond")
	}
	h.pass(time.Millisecond)
	if limited("192.0.2.7") != 0 {
		t.Error("admitted 60 s after the first")
	}
	for i := range 30 {
		if limited("[2001:db8:1:2::"+string(rune('a'+i%6))+"]:5") != 0 {
			t.Fatalf("exchange %d of a /64 was limited, want it allowed", i)
		}
	}
	if limited("2001:db8:1:2:ffff::1") == 0 || limited("2001:db8:1:3::1") != 0 {
		t.Error("an IPv6 address counts by its /64")
	}
}

func TestRevoke(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	token := h.token()
	if _, err := h.Verify(token); err != nil { // from here on it is cached
		t.Fatal(err)
	}
	must.OK(t, h.Revoke("key_t"))
	if _, err := h.Verify(token); !errors.Is(err, auth.ErrTokenInvalid) {
		t.Errorf("after the revocation: got %v, want %v", err, auth.ErrTokenInvalid)
	}
	if _, err := h.service().Verify(token); !errors.Is(err, auth.ErrTokenInvalid) {
		t.Errorf("after a restart: got %v, want %v", err, auth.ErrTokenInvalid)
	}
	h.pass(time.Hour)
	first, _ := h.store.Key("key_t")
	if err := h.Revoke("key_t"); err != nil {
		t.Errorf("revoking again: got %v, want no error", err)
	}
	if k, _ := h.store.Key("key_t"); !k.RevokedAt.Equal(first.RevokedAt) || !k.RevokedAt.Equal(epoch) {
		t.Errorf("revoked at %s, want the first time, %s", k.RevokedAt, epoch)
	}
	if err := h.Revoke("key_x"); fail.CodeOf(err) != fail.NotFound {
		t.Errorf("unknown: got %v, want code %q", err, fail.NotFound)
	}
}

func TestCreate(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for place, prefix := range map[string]string{"plc_t": "sact_", "plc_l": "sacl_"} {
		k, secret, err := h.Create(place, "n", []string{auth.ScopeDoor, auth.ScopePartner, auth.ScopeDoor}, true)
		if err != nil || !strings.HasPrefix(secret, prefix) || !apikey.WellFormed(secret) || len(k.Scopes) != 2 {
			t.Errorf("%s: got %+v, %v, want a well-formed key with its place's label and two scopes", place, k, err)
		}
		if tk, err := h.Issue(secret); err != nil || tk.PlaceID != place {
			t.Errorf("%s: got %+v %v, want no error, tk.PlaceID = place", place, tk, err)
		}
	}
	for code, f := range map[string]func() error{
		fail.PlaceNotFound: func() error { _, _, err := h.Create("plc_x", "n", []string{auth.ScopeDoor}, false); return err },
		fail.MissingField:  func() error { _, _, err := h.Create("plc_t", "n", nil, false); return err },
		fail.InvalidField:  func() error { _, _, err := h.Create("plc_t", "n", []string{"root"}, false); return err },
	} {
		if err := f(); fail.CodeOf(err) != code {
			t.Errorf("want %s, got %v", code, err)
		}
	}
}
