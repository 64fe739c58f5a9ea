package auth

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/doorlab/doorlab/internal/apikey"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/id"
	"github.com/doorlab/doorlab/internal/limit"
	"github.com/doorlab/doorlab/server/place"
	"github.com/doorlab/doorlab/server/rule"
)

// Errors of the service.
var (
	// ErrInvalidKey: malformed, unknown or revoked, nobody learns which.
	ErrInvalidKey = errors.New("auth: invalid API key")
	// ErrTokenInvalid: bad form, bad signature, or the token's key was revoked.
	ErrTokenInvalid = errors.New("auth: invalid token")
	// ErrTokenExpired: a good token, 900 s old or older.
	ErrTokenExpired = errors.New("auth: token expired")
)

// RateLimited is an address with too many exchanges [AUTH-3]. RetryAfter is
// exactly the time until the next one is admitted.
type RateLimited struct{ RetryAfter time.Duration }

// Error implements error.
func (e *RateLimited) Error() string {
	return fmt.Sprintf("auth: too many token exchanges, again in %s", e.RetryAfter)
}

// Limits of the exchange: 30 within any 60 s, per address.
const (
	exchanges      = 30
	exchangeWindow = time.Minute
)

// Store is what auth needs to remember. Rows that are not there: rule.ErrNotFound.
type Store interface {
	Place(id string) (place.Place, error)
	InsertKey(k Key, hash string) error
	KeyByHash(hash string) (Key, error)
	Key(id string) (Key, error)
	Keys(placeID string) ([]Key, error)
	RevokedKeys() ([]Key, error)
	RevokeKey(id string, at time.Time) error
}

// Config of a Service. Clock, Store, Pepper and SigningKey are required.
type Config struct {
	Clock      clock.Clock
	Store      Store
	Pepper     []byte // of the key hashes: store.Secret("api keys")
	SigningKey []byte // of the tokens: store.Secret("tokens")
	TestPrefix string // of new keys of a test place; "" = sact_
	LivePrefix string // ... of a live place; "" = sacl_
}

// Service exchanges keys for tokens, verifies tokens, and issues and revokes keys.
type Service struct {
	cfg    Config
	kid    string
	window *limit.Window

	mu      sync.RWMutex
	revoked map[string]bool // key ids
	looked  time.Duration   // Mono of the last look for revocations by others
}

// New returns a service that knows every revocation so far.
func New(cfg Config) (*Service, error) {
	if cfg.TestPrefix == "" {
		cfg.TestPrefix = TestPrefix
	}
	if cfg.LivePrefix == "" {
		cfg.LivePrefix = LivePrefix
	}
	s := &Service{cfg: cfg, kid: keyID(cfg.SigningKey), window: limit.New(exchanges, exchangeWindow), revoked: map[string]bool{}}
	return s, s.look()
}

// Exchange gives a token for an API key [AUTH-1]. addr is the caller's address,
// with or without a port. It is Admit followed by Issue. Errors: *RateLimited,
// ErrInvalidKey, the store's.
func (s *Service) Exchange(addr, key string) (Token, error) {
	if err := s.Admit(addr); err != nil {
		return Token{}, err
	}
	return s.Issue(key)
}

// Admit counts an exchange of an address, before its body is looked at.
// *RateLimited when there were too many; a refused one does not count [AUTH-3].
func (s *Service) Admit(addr string) error {
	if ok, retry := s.window.Allow(network(addr), s.cfg.Clock.Now()); !ok {
		return &RateLimited{RetryAfter: retry}
	}
	return nil
}

// network is what counts as one address: an IPv4 address or an IPv6 /64.
func network(addr string) string {
	ip, err := netip.ParseAddr(addr)
	if err != nil {
		ap, err := netip.ParseAddrPort(addr)
		if err != nil {
			return addr
		}
		ip = ap.Addr()
	}
	ip = ip.Unmap().WithZone("")
	if ip.Is4() {
		return ip.String()
	}
	p, _ := ip.Prefix(64) // never fails for IPv6
	return p.String()
}

// Issue gives a token for an API key, without counting. Errors: ErrInvalidKey,
// the store's.
func (s *Service) Issue(key string) (Token, error) {
	if !apikey.WellFormed(key) {
		return Token{}, ErrInvalidKey
	}
	// The hash is keyed with the pepper: finding it in an index leaks nothing of the key.
	k, err := s.cfg.Store.KeyByHash(HashKey(s.cfg.Pepper, key))
	if errors.Is(err, rule.ErrNotFound) || err == nil && !k.RevokedAt.IsZero() {
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

// Create issues a key for a place; the secret is shown this once. Errors:
// *rule.Error place_not_found, invalid_field (scopes, name); the store's.
func (s *Service) Create(placeID, name string, scopes []string, sim bool) (Key, string, error) {
	if len(scopes) == 0 {
		return Key{}, "", rule.Missing("scopes")
	}
	for _, sc := range scopes {
		if sc != ScopePartner && sc != ScopeDoor {
			return Key{}, "", rule.Invalid("scopes", "must be of "+ScopePartner+" and "+ScopeDoor)
		}
	}
	if utf8.RuneCountInString(name) > 100 {
		return Key{}, "", rule.Invalid("name", "must have at most 100 characters")
	}
	p, err := s.cfg.Store.Place(placeID)
	if errors.Is(err, rule.ErrNotFound) {
		return Key{}, "", rule.New(rule.PlaceNotFound, "no such place")
	}
	if err != nil {
		return Key{}, "", err
	}
	prefix := s.cfg.LivePrefix
	if p.Kind == place.Test {
		prefix = s.cfg.TestPrefix
	}
	secret := apikey.New(prefix)
	now := rule.Milli(s.cfg.Clock.Now())
	scopes = slices.Compact(slices.Sorted(slices.Values(scopes)))
	k := Key{ID: id.New(id.Key, now), PlaceID: placeID, Name: name, Scopes: scopes, Sim: sim, CreatedAt: now}
	return k, secret, s.cfg.Store.InsertKey(k, HashKey(s.cfg.Pepper, secret))
}

// Revoke ends a key and, in this process at once, its tokens [AUTH-5]. A repeat
// changes nothing. Errors: *rule.Error not_found; the store's.
func (s *Service) Revoke(keyID string) error {
	err := s.cfg.Store.RevokeKey(keyID, s.cfg.Clock.Now())
	if errors.Is(err, rule.ErrNotFound) {
		return rule.New(rule.NotFound, "no such key")
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.revoked[keyID] = true
	s.mu.Unlock()
	return nil
}

// List names the keys of a place, or all when placeID is "".
func (s *Service) List(placeID string) ([]Key, error) { return s.cfg.Store.Keys(placeID) }

// lookEvery bounds how long a revocation by another process stays unseen, on
// the wall clock: 5 s at most are promised.
const lookEvery = 2 * time.Second

// isRevoked reports whether a key is revoked; now and then it asks the store,
// because another process may have done it.
func (s *Service) isRevoked(keyID string) bool {
	s.mu.RLock()
	due, revoked := clock.Mono()-s.looked >= lookEvery, s.revoked[keyID]
	s.mu.RUnlock()
	if revoked || !due {
		return revoked
	}
	_ = s.look() // what is known stands while the store cannot be read
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.revoked[keyID]
}

func (s *Service) look() error {
	s.mu.Lock()
	s.looked = clock.Mono()
	s.mu.Unlock()
	ks, err := s.cfg.Store.RevokedKeys()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range ks {
		s.revoked[k.ID] = true
	}
	return err
}
