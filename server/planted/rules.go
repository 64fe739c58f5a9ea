package planted

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/server/api"
	"github.com/doorlab/doorlab/server/auth"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/place"
	"github.com/doorlab/doorlab/server/record"
)

// Bugs of keys and tokens.

// keys decorates what the edge asks about keys.
type keys struct {
	api.Keys
	admit  func(addr string, err error) error
	addr   func(addr string) string
	verify func(token string, p auth.Principal, err error) (auth.Principal, error)
}

func (k keys) Admit(addr string) error {
	if k.addr != nil {
		addr = k.addr(addr)
	}
	err := k.Keys.Admit(addr)
	if k.admit != nil {
		return k.admit(addr, err)
	}
	return err
}

// Issue makes verify see each new token at once.
func (k keys) Issue(key string) (auth.Token, error) {
	t, err := k.Keys.Issue(key)
	if err == nil && k.verify != nil {
		_, _ = k.Verify(t.AccessToken)
	}
	return t, err
}

func (k keys) Verify(token string) (auth.Principal, error) {
	p, err := k.Keys.Verify(token)
	if k.verify != nil {
		return k.verify(token, p, err)
	}
	return p, err
}

// seen remembers the principal of each token.
var seen sync.Map

// forgiving accepts a token that was valid once if the error is this one.
func forgiving(what error, same func(token string) string) func(string, auth.Principal, error) (auth.Principal, error) {
	return func(token string, p auth.Principal, err error) (auth.Principal, error) {
		if err == nil {
			seen.Store(same(token), p)
		} else if was, ok := seen.Load(same(token)); ok && errors.Is(err, what) {
			return was.(auth.Principal), nil
		}
		return p, err
	}
}

func whole(token string) string { return token }

// unsigned is a token without its signature.
func unsigned(token string) string {
	if i := strings.LastIndexByte(token, '.'); i > 0 {
		return token[:i]
	}
	return token
}

// testKeysAnywhere is a bug in two parts: an edge notes which door a token is about to move, and the token of a test key
// then counts as one of that door's place.
const testKeysAnywhere = "test-key-moves-live-doors"

var (
	asked     sync.Map // token -> door
	testKeyAt = edge{routes: orders + ", " + legacy, ask: func(r *http.Request) {
		_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		asked.Store(token, strings.Split(r.URL.Path, "/")[4])
	}}
)

func apiKeys(name string, k api.Keys, dir api.Directory) api.Keys {
	switch name {
	case "expired-token-accepted":
		return keys{Keys: k, verify: forgiving(auth.ErrTokenExpired, whole)}
	case "forged-token-accepted":
		return keys{Keys: k, verify: forgiving(auth.ErrTokenInvalid, unsigned)}
	case "revoked-key-keeps-its-tokens":
		return keys{Keys: k, verify: forgiving(auth.ErrTokenInvalid, whole)}
	case "narrow-key-keeps-its-tokens":
		forgive := forgiving(auth.ErrTokenInvalid, whole)
		return keys{Keys: k, verify: func(token string, p auth.Principal, err error) (auth.Principal, error) {
			if was, got := forgive(token, p, err); got != nil || len(was.Scopes) == 1 {
				return was, got
			}
			return p, err
		}}
	case "every-scope":
		return keys{Keys: k, verify: func(_ string, p auth.Principal, err error) (auth.Principal, error) {
			p.Scopes = []string{auth.ScopePartner, auth.ScopeDoor}
			return p, err
		}}
	case "exchange-limit-31":
		var over sync.Map
		return keys{Keys: k, admit: func(addr string, err error) error {
			if _, was := over.LoadOrStore(addr, true); err != nil && !was {
				return nil
			}
			if err == nil {
				over.Delete(addr)
			}
			return err
		}}
	case "forged-token-said-to-be-expired":
		var over sync.Map
		return keys{Keys: k, verify: func(token string, p auth.Principal, err error) (auth.Principal, error) {
			if _, was := over.Load(unsigned(token)); was && errors.Is(err, auth.ErrTokenInvalid) {
				err = auth.ErrTokenExpired
			}
			if errors.Is(err, auth.ErrTokenExpired) {
				over.Store(unsigned(token), true)
			}
			return p, err
		}}
	case "live-place-plays-outcomes":
		return keys{Keys: k, verify: func(_ string, p auth.Principal, err error) (auth.Principal, error) {
			if p.Sim {
				p.PlaceKind = place.Test
			}
			return p, err
		}}
	case testKeysAnywhere:
		return keys{Keys: k, verify: func(token string, p auth.Principal, err error) (auth.Principal, error) {
			if door, asks := asked.LoadAndDelete(token); asks && p.PlaceKind == place.Test {
				if d, err := dir.Door(door.(string)); err == nil {
					p.PlaceID = d.PlaceID
				}
			}
			return p, err
		}}
	case "exchange-limit-gone":
		return keys{Keys: k, admit: func(string, error) error { return nil }}
	case "exchange-limit-by-port":
		return keys{Keys: k, addr: func(addr string) string { return addr + "0" }}
	}
	return k
}

// authStore decorates what auth remembers.
type authStore struct {
	auth.Store
	name string
}

func (s authStore) KeyByHash(hash string) (auth.Key, error) {
	k, err := s.Store.KeyByHash(hash)
	if s.name == "revoked-key-exchanges" {
		k.RevokedAt = time.Time{}
	}
	return k, err
}

func (s authStore) RevokedKeys() ([]string, error) {
	if s.name == "revocations-forgotten-at-restart" {
		return nil, nil
	}
	return s.Store.RevokedKeys()
}

// slow is a clock that runs behind.
type slow struct {
	clock.Clock
	by time.Duration
}

func (c slow) Now() time.Time { return c.Clock.Now().Add(-c.by) }

// Bugs of permits.

// grants decorates what the edge asks about permits.
type grants struct {
	api.Grants
	name string
	dir  api.Directory
	busy *sync.Map // references being registered
	had  *sync.Map // permits that were
}

func (g grants) Register(by record.By, r grant.RegisterRequest) (grant.Permit, error) {
	switch g.name {
	case "names-counted-in-bytes":
		if err := longInBytes(r.Name); err != nil {
			return grant.Permit{}, err
		}
	case "permit-of-721-hours":
		if r.StartsAt != nil && r.EndsAt != nil && r.EndsAt.Sub(*r.StartsAt) > 720*time.Hour && r.EndsAt.Sub(*r.StartsAt) <= 721*time.Hour {
			end := r.StartsAt.Add(720 * time.Hour)
			r.EndsAt = &end
		}
	case "scope-reset-by-reissue", "default-scope-is-every-door":
		if r.DoorIDs == nil {
			ds, _ := g.dir.Doors(by.PlaceID)
			if r.DoorIDs = place.EntryDoors(ds); g.name == "default-scope-is-every-door" {
				r.DoorIDs = each.Of(ds, doorID)
			}
		}
	case "foreign-doors-dropped":
		p, err := g.Grants.Register(by, r)
		var e *fail.Error
		if errors.As(err, &e) && e.Code == fail.InvalidDoorIDs {
			r.DoorIDs = slices.DeleteFunc(slices.Clone(r.DoorIDs), func(id string) bool {
				d, err := g.dir.Door(id)
				return err != nil || d.PlaceID != by.PlaceID
			})
			if len(r.DoorIDs) == 0 {
				r.DoorIDs = nil
			}
			return g.Grants.Register(by, r)
		}
		return p, err
	case "concurrent-create-conflicts":
		if r.ExternalRef != nil {
			if _, busy := g.busy.LoadOrStore(*r.ExternalRef, true); busy {
				return grant.Permit{}, fail.New(fail.RuleViolated, "the permit is being registered")
			}
			defer g.busy.Delete(*r.ExternalRef)
		}
	}
	p, err := g.Grants.Register(by, r)
	if g.name == "repeat-gives-another-link" && err == nil {
		if _, again := g.had.LoadOrStore(p.ID, true); again {
			p.Token += "0"
		}
	}
	return p, err
}

func (g grants) Revoke(by record.By, r grant.RevokeRequest) (grant.Permit, error) {
	if g.name == "revoke-of-two-names-takes-the-reference" && r.ExternalRef != nil {
		r.PermitID = nil
	}
	if g.name == "link-of-a-revocation-by-id-comes-back" && r.ExternalRef == nil && r.PermitID != nil {
		links.Store("by id "+*r.PermitID, true)
	}
	p, err := g.Grants.Revoke(by, r)
	if g.name == "repeated-revocation-without-its-reason" && r.Reason == nil {
		p.RevokeReason = ""
	}
	return p, err
}

func (g grants) CancelTerm(by record.By, kind, id string) (grant.Term, error) {
	if g.name == "cancelled-after-its-end-stays-expired" {
		list, _, _ := g.ListTerms(by.PlaceID, kind, grant.ListQuery{Limit: 500})
		for _, x := range list {
			if x.ID == id && x.State == grant.Expired {
				return x, nil
			}
		}
	}
	t, err := g.Grants.CancelTerm(by, kind, id)
	if g.name == "cancelled-shown-active" {
		t.State = grant.Active
	}
	return t, err
}

// Bugs of what is stored of a grant, and of what doors a place has.

type grantStore struct {
	grant.Store
	name string
}

func (s grantStore) Change(fn func(tx grant.Tx) error) error {
	return s.Store.Change(func(tx grant.Tx) error { return fn(grantTx{tx, s.name}) })
}

type grantTx struct {
	grant.Tx
	name string
}

func (t grantTx) PutGrant(op string, g, old *grant.Grant) error {
	if keep := t.changed(op, g, old); !keep {
		return nil
	}
	if old != nil && g.Kind == access.KindPermit {
		switch t.name {
		case "reregistration-keeps-period":
			g.StartsAt, g.EndsAt = old.StartsAt, old.EndsAt
		case "reregistration-keeps-revocation":
			if !old.RevokedAt.IsZero() {
				g.RevokedAt, g.TokenHash = old.RevokedAt, ""
			}
		case "reregistration-keeps-phone":
			g.Phone = old.Phone
		case "reregistration-keeps-name":
			g.Name = old.Name
		case "scope-widened-not-replaced":
			for _, d := range old.Doors {
				if !slices.Contains(g.Doors, d) {
					g.Doors = append(slices.Clone(g.Doors), d)
				}
			}
			slices.Sort(g.Doors)
		}
	}
	return t.Tx.PutGrant(op, g, old)
}

func (t grantTx) Doors(placeID string) ([]place.Door, error) {
	ds, err := t.Tx.Doors(placeID)
	switch t.name {
	case "shortest-maximum-ignored":
		ds = edited(ds, func(d *place.Door) { d.PermitMaxHours = place.MaxPermitHours })
	case "maximum-of-the-first-door":
		ds = edited(ds, func(d *place.Door) { d.PermitMaxHours = ds[0].PermitMaxHours })
	}
	return ds, err
}
