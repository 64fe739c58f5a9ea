package auth

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/doorlab/doorlab/internal/apikey"
)

// TokenLife is how long a token is valid. A token exactly this old has expired, see AUTH-2.
const TokenLife = 900 * time.Second // [AUTH-2]

// early is how far in the future a token may seem to have been issued. Beyond that the clock was set back, and the
// token would outlive its 15 minutes.
const early = time.Minute

// Token is the result of an exchange.
type Token struct {
	AccessToken string
	ExpiresIn   int // seconds
	PlaceID     string
	Scopes      []string
	By          Principal // whose key it was
}

// Principal is who calls: an API key, as its token says.
type Principal struct {
	KeyID     string
	KeyName   string
	PlaceID   string
	PlaceKind string // place.Test or place.Live
	Scopes    []string
	Sim       bool
}

// Has reports whether the principal holds a scope.
func (p Principal) Has(scope string) bool { return slices.Contains(p.Scopes, scope) }

// claims are a token's content. IssuedMs decides: seconds are too coarse for a token that expires after exactly 900 s.
type claims struct {
	Key      string   `json:"sub"`
	Name     string   `json:"name,omitempty"`
	Place    string   `json:"place"`
	Kind     string   `json:"kind"`
	Scopes   []string `json:"scopes"`
	Sim      bool     `json:"sim,omitempty"`
	Exp      int64    `json:"exp"` // seconds, rounded up, for others to read
	IssuedMs int64    `json:"iatMs"`
}

// Verify checks validity itself; the library would look at the clock only once.
func (claims) GetExpirationTime() (*jwt.NumericDate, error) { return nil, nil }
func (claims) GetIssuedAt() (*jwt.NumericDate, error)       { return nil, nil }
func (claims) GetNotBefore() (*jwt.NumericDate, error)      { return nil, nil }
func (claims) GetIssuer() (string, error)                   { return "", nil }
func (claims) GetSubject() (string, error)                  { return "", nil }
func (claims) GetAudience() (jwt.ClaimStrings, error)       { return nil, nil }

// keyID names a signing key in a token's header.
func keyID(key []byte) string {
	sum := sha256.Sum256(append([]byte("kid\n"), key...))
	return hex.EncodeToString(sum[:4])
}

func (s *Service) sign(p Principal) (Token, error) {
	now := s.cfg.Clock.Now()
	end := now.Add(TokenLife + time.Second - time.Nanosecond)
	t := jwt.NewWithClaims(jwt.SigningMethodHS256, claims{
		Key: p.KeyID, Name: p.KeyName, Place: p.PlaceID, Kind: p.PlaceKind, Scopes: p.Scopes, Sim: p.Sim,
		Exp: end.Unix(), IssuedMs: now.UnixMilli(),
	})
	t.Header["kid"] = s.kid
	signed, err := t.SignedString(s.cfg.SigningKey)
	return Token{AccessToken: signed, ExpiresIn: int(TokenLife / time.Second), PlaceID: p.PlaceID, Scopes: p.Scopes, By: p}, err
}

// Verify returns the principal of a token. Errors: ErrTokenExpired, together with the principal, for a genuine token
// that is 900 s old or older, or was issued before the clock was set back; ErrTokenInvalid for everything else, see
// AUTH-2 and AUTH-5.
func (s *Service) Verify(token string) (Principal, error) {
	sum := sha256.Sum256([]byte(token))
	g, ok := s.known.Get(sum)
	if !ok {
		var err error
		if g, err = s.genuine(token); err != nil {
			return Principal{}, err
		}
		s.known.Put(sum, g)
	}
	left := g.ends.Sub(s.cfg.Clock.Now())
	switch {
	case left <= 0, left > TokenLife+early: // [AUTH-2] checked only once the signature is known to be right
		return g.who, ErrTokenExpired
	case s.isRevoked(g.who.KeyID): // [AUTH-5]
		return Principal{}, ErrTokenInvalid
	}
	return g.who, nil
}

// good is the content of a genuine token. Checking a signature costs as much as everything else between a request and
// its handler, so the result is remembered by the token's hash. What can change while a token lives, its age and its
// key's revocation, is checked each time.
type good struct {
	who  Principal
	ends time.Time
}

// genuine parses a token that we signed, whatever its age.
func (s *Service) genuine(token string) (good, error) {
	var c claims
	_, err := jwt.ParseWithClaims(token, &c, func(t *jwt.Token) (any, error) {
		if t.Header["kid"] != s.kid {
			return nil, ErrTokenInvalid
		}
		return s.cfg.SigningKey, nil
	}, jwt.WithValidMethods([]string{"HS256"}), jwt.WithoutClaimsValidation(), jwt.WithStrictDecoding())
	switch {
	case err != nil && (strings.HasPrefix(token, apikey.TestPrefix) || strings.HasPrefix(token, apikey.LivePrefix)):
		return good{}, errKeyAsToken
	case err != nil || c.Key == "" || c.Place == "":
		return good{}, ErrTokenInvalid
	}
	return good{Principal{KeyID: c.Key, KeyName: c.Name, PlaceID: c.Place, PlaceKind: c.Kind, Scopes: c.Scopes, Sim: c.Sim},
		time.UnixMilli(c.IssuedMs).Add(TokenLife)}, nil
}
