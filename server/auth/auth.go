package auth

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/doorlab/doorlab/internal/apikey"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/id"
	"github.com/doorlab/doorlab/internal/limit"
	"github.com/doorlab/doorlab/internal/near"
	"github.com/doorlab/doorlab/internal/plain"
	"github.com/doorlab/doorlab/internal/recent"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/place"
)

// Errors of the service.
var (
	// ErrInvalidKey: malformed, unknown or revoked; callers don't learn which.
	ErrInvalidKey = fail.New(fail.InvalidAPIKey, "the API key is not valid")
	// ErrTokenInvalid: malformed, wrongly signed, or the token's key was revoked.
	ErrTokenInvalid = fail.New(fail.TokenInvalid, "the access token is not valid")
	// errKeyAsToken: an API key where a token belongs, a habit from APIs without tokens.
	errKeyAsToken = fail.New(fail.TokenInvalid, "this is an API key; exchange it for an access token at POST /core/v1/auth/apikey/token")
	// ErrTokenExpired: a genuine token, 900 s old or older.
	ErrTokenExpired = fail.New(fail.TokenExpired, "the access token has expired; exchange the key again")
)

// Limits of the exchange: 30 within any 60 s, per address.
const (
	exchanges      = 30
	exchangeWindow = time.Minute
)

// Store is what auth needs to remember. Methods return fail.ErrNotFound for missing rows.
type Store interface {
	Place(id string) (place.Place, error)
	InsertKey(k Key, hash string) error
	KeyByHash(hash string) (Key, error)
	Key(id string) (Key, error)
	Keys(placeID string) ([]Key, error)
	RevokedKeys() (ids []string, err error)
	RevokeKey(id string, at time.Time) error
}

// Config of a Service. Clock, Store, Pepper and SigningKey are required.
type Config struct {
	Clock      clock.Clock
	Store      Store
	Pepper     []byte // of the key hashes, as the store was seeded with
	SigningKey []byte // of the tokens
}

// Service exchanges keys for tokens, verifies tokens, and issues and revokes keys.
type Service struct {
	cfg    Config
	kid    string
	window *limit.Window
	known  recent.Map[[sha256.Size]byte, good] // tokens whose signature was right

	mu      sync.RWMutex
	revoked map[string]bool // key ids
	looked  time.Duration   // Mono of the last look for revocations by others
}

// New returns a service that knows every revocation so far.
func New(cfg Config) (*Service, error) {
	s := &Service{cfg: cfg, kid: keyID(cfg.SigningKey), window: limit.New(exchanges, exchangeWindow), revoked: map[string]bool{}}
	return s, s.look()
}

// Admit counts a token exchange from an address (with or without a port). Call it before reading the body. Errors
// (*fail.Error): rate_limited, with RetryAfter the exact time until the next one is admitted; refused exchanges don't
// count.
func (s *Service) Admit(addr string) error {
	if ok, retry := s.window.Allow(limit.Network(addr), s.cfg.Clock.Now()); !ok { // [AUTH-3]
		return &fail.Error{Code: fail.RateLimited, Message: "too many token exchanges from this address", RetryAfter: retry}
	}
	return nil
}

// Issue exchanges an API key for a token, see AUTH-1. Errors: ErrInvalidKey, the store's.
func (s *Service) Issue(key string) (Token, error) {
	if !apikey.WellFormed(key) {
		return Token{}, ErrInvalidKey
	}
	// The hash is keyed with the pepper, so looking it up in an index leaks nothing about the key.
	k, err := s.cfg.Store.KeyByHash(HashKey(s.cfg.Pepper, key))
	if errors.Is(err, fail.ErrNotFound) || err == nil && !k.RevokedAt.IsZero() { // [AUTH-1]
		return Token{}, ErrInvalidKey
	}
	if err != nil {
		return Token{}, err
	}
	p, err := s.cfg.Store.Place(k.PlaceID)
	if err != nil {
		return Token{}, err
	}
	return s.sign(Principal{KeyID: k.ID, KeyName: k.Name, PlaceID: k.PlaceID, PlaceKind: p.Kind, Scopes: k.Scopes, Sim: k.Sim})
}

// Create issues a key for a place; the secret is returned only here. Errors: *fail.Error place_not_found, invalid_field
// (scopes, name); the store's.
func (s *Service) Create(placeID, name string, scopes []string, sim bool) (Key, string, error) {
	if len(scopes) == 0 {
		return Key{}, "", fail.Missing("scopes")
	}
	for _, sc := range scopes {
		if sc != ScopePartner && sc != ScopeDoor {
			text := fmt.Sprintf("%q is neither %s nor %s", sc, ScopePartner, ScopeDoor)
			return Key{}, "", fail.New(fail.InvalidField, text+near.Hint(sc, []string{ScopePartner, ScopeDoor}), "field", "scopes")
		}
	}
	if utf8.RuneCountInString(name) > 100 {
		return Key{}, "", fail.Invalid("name", "must have at most 100 characters")
	}
	if plain.Deceptive(name) {
		return Key{}, "", fail.Invalid("name", plain.Reason)
	}
	p, err := s.place(placeID)
	if err != nil {
		return Key{}, "", err
	}
	prefix := apikey.LivePrefix
	if p.Kind == place.Test {
		prefix = apikey.TestPrefix
	}
	secret := apikey.New(prefix, placeID)
	now := fail.Milli(s.cfg.Clock.Now())
	scopes = slices.Compact(slices.Sorted(slices.Values(scopes)))
	k := Key{ID: id.New(id.Key, now), PlaceID: placeID, Name: name, Scopes: scopes, Sim: sim, CreatedAt: now}
	return k, secret, s.cfg.Store.InsertKey(k, HashKey(s.cfg.Pepper, secret))
}

// Revoke ends a key and, in this process at once, its tokens, see AUTH-5. A repeat
// changes nothing. Errors: *fail.Error not_found; the store's.
func (s *Service) Revoke(keyID string) error {
	err := s.cfg.Store.RevokeKey(keyID, s.cfg.Clock.Now())
	if errors.Is(err, fail.ErrNotFound) {
		return fail.New(fail.NotFound, fmt.Sprintf("no key %q ('doorlab keys list' shows them)", keyID))
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.revoked[keyID] = true // [AUTH-5]
	s.mu.Unlock()
	return nil
}

// place finds a place. Errors: *fail.Error place_not_found; the store's.
func (s *Service) place(id string) (place.Place, error) {
	p, err := s.cfg.Store.Place(id)
	if errors.Is(err, fail.ErrNotFound) {
		err = fail.New(fail.PlaceNotFound, "place not found")
	}
	return p, err
}

// List names the keys of a place, or all when placeID is "". Errors: *fail.Error place_not_found; the store's.
func (s *Service) List(placeID string) ([]Key, error) {
	if placeID != "" {
		if _, err := s.place(placeID); err != nil {
			return nil, err
		}
	}
	return s.cfg.Store.Keys(placeID)
}

// lookEvery bounds how long a revocation by another process goes unnoticed, in wall time. We promise 5 s at most.
const lookEvery = 2 * time.Second

// isRevoked reports whether a key is revoked. Every lookEvery it asks the store, because another process may have
// revoked it.
func (s *Service) isRevoked(keyID string) bool {
	s.mu.RLock()
	due, revoked := clock.Mono()-s.looked >= lookEvery, s.revoked[keyID]
	s.mu.RUnlock()
	if revoked || !due {
		return revoked
	}
	_ = s.look() // while the store can't be read, rely on what is known
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.revoked[keyID]
}

func (s *Service) look() error {
	s.mu.Lock()
	s.looked = clock.Mono()
	s.mu.Unlock()
	ids, err := s.cfg.Store.RevokedKeys()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		s.revoked[id] = true
	}
	return err
}
