package grant

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"strconv"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/server/place"
	"github.com/doorlab/doorlab/server/record"
)

// Store is what grants need. Methods return fail.ErrNotFound for missing rows.
type Store interface {
	// Change runs fn in one durable transaction; an error of fn undoes it.
	Change(fn func(tx Tx) error) error
	ChangeBehind(fn func(tx Tx) error) error // every other write goes first
	Grant(id string) (Grant, error)
	// ListGrants lists grants of one kind, newest first; total counts the matches.
	ListGrants(placeID, kind string, q ListQuery) (list []Grant, total int, err error)
	ListCustomers(placeID string, q ListQuery) (list []Customer, total int, err error)
	Boards(placeID string) ([]place.Board, error)
	// Links lists the ids of unrevoked permits in order, starting after one.
	Links(after string, most int) ([]string, error)
}

// Tx is a transaction of the store. Op names the change for the history.
type Tx interface {
	Now() time.Time
	InsertAudit(a record.Audit) error
	Place(id string) (place.Place, error)
	Doors(placeID string) ([]place.Door, error)
	Grant(id string) (Grant, error)
	// GrantByRef finds by (place, kind, source, externalRef), GrantByPhone the grant without a reference by (place,
	// kind, source, phone).
	GrantByRef(placeID, kind, source, ref string) (Grant, error)
	GrantByPhone(placeID, kind, source, phone string) (Grant, error)
	// PutGrant writes a new (old nil) or changed grant, raises the place's revision and sets g.Rev.
	PutGrant(op string, g, old *Grant) error
	CustomerByRef(placeID, source, ref string) (Customer, error)
	CustomerByPhone(placeID, source, phone string) (Customer, error)
	// HasCustomer reports whether the place has a customer with this phone, from any source.
	HasCustomer(placeID, phone string) (bool, error)
	PutCustomer(c Customer) error
}

// Config of a Service. Clock, Store and Secret are required.
type Config struct {
	Clock   clock.Clock
	Store   Store
	Secret  []byte // entry tokens derive from it
	LinkURL string // base of entry links, without a slash at its end
	// Every change waits for Openings; server/entry begins them. nil = none.
	Openings *place.Openings
	// Applied is the revision that a board has applied and when; nil = none ever.
	Applied func(boardID string) (rev int64, at time.Time)
}

// Service registers, revokes and lists grants.
type Service struct {
	cfg     Config
	imports imports
	macs    sync.Pool // of hash.Hash, under the secret: hashing the key took as long as the token, and a list has 100
}

// New returns a service.
func New(cfg Config) *Service {
	if cfg.Applied == nil {
		cfg.Applied = func(string) (int64, time.Time) { return 0, time.Time{} }
	}
	return &Service{cfg: cfg, macs: sync.Pool{New: func() any { return hmac.New(sha256.New, cfg.Secret) }}}
}

// change runs fn in one durable transaction. When it returns, openings that may have read the place's grants before the
// change have sent their command.
func (s *Service) change(fn func(tx Tx) error) error { return s.changeBy(s.cfg.Store.Change, fn) }

func (s *Service) changeBy(write func(func(tx Tx) error) error, fn func(tx Tx) error) error {
	var placeID string
	err := write(func(tx Tx) error { return fn(noting{tx, &placeID}) })
	if err == nil {
		s.cfg.Openings.Wait(placeID) // [PERM-4]
	}
	return err
}

// noting is a Tx that notes the place of every grant it finds: only an existing grant can lose rights. A repeat, which
// changes nothing, waits as the first call did.
type noting struct {
	Tx
	placeID *string
}

func (n noting) Grant(id string) (Grant, error) { return n.found(n.Tx.Grant(id)) }

func (n noting) GrantByRef(placeID, kind, source, ref string) (Grant, error) {
	return n.found(n.Tx.GrantByRef(placeID, kind, source, ref))
}

func (n noting) GrantByPhone(placeID, kind, source, phone string) (Grant, error) {
	return n.found(n.Tx.GrantByPhone(placeID, kind, source, phone))
}

func (n noting) found(g Grant, err error) (Grant, error) {
	if err == nil {
		*n.placeID = g.PlaceID
	}
	return g, err
}

// token derives a permit's entry token, which is never stored: the place's label, by which a router finds the server,
// and 210 bits. The generation makes sure that a revoked link stays dead.
func (s *Service) token(g *Grant, generation int64) string {
	digits := s.digits(g, generation)
	now := digits
	if g.LinkHash != "" && generation != g.Generation {
		now = s.digits(g, g.Generation)
	}
	if unlabelled(g, now) {
		return digits
	}
	return labelled(g, digits)
}

func (s *Service) digits(g *Grant, generation int64) string {
	m := s.macs.Get().(hash.Hash)
	defer s.macs.Put(m)
	m.Reset()
	var text [64]byte
	_, _ = m.Write(strconv.AppendInt(append(append(text[:0], g.ID...), '\n'), generation, 10))
	return base64.RawURLEncoding.EncodeToString(m.Sum(text[:0]))
}

// HashLink is the hash by which a permit is found from its entry token.
func HashLink(token string) string {
	h := sha256.Sum256([]byte("link\n" + token))
	return hex.EncodeToString(h[:])
}

// view is a permit as the partner sees it at now.
func (s *Service) view(g Grant, now time.Time) Permit {
	gen := g.Generation
	if !g.RevokedAt.IsZero() {
		gen-- // the revoked link; nobody has the next one yet
	}
	token := s.token(&g, gen)
	return Permit{Grant: g, State: g.State(now), Token: token, URL: s.cfg.LinkURL + "/entry?t=" + token}
}
