package grant

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/server/place"
)

// Store is what grants need. Rows that are not there: fail.ErrNotFound.
type Store interface {
	// Change runs fn in one durable transaction; an error of fn undoes it.
	Change(fn func(tx Tx) error) error
	ChangeBehind(fn func(tx Tx) error) error // overtaken by every other write
	Grant(id string) (Grant, error)
	// ListGrants: newest first, of one kind; total counts the matches.
	ListGrants(placeID, kind string, q ListQuery) (list []Grant, total int, err error)
	ListCustomers(placeID string, q ListQuery) (list []Customer, total int, err error)
	Boards(placeID string) ([]place.Board, error)
	// Links lists the ids of permits that aren't revoked, in order, after one.
	Links(after string, most int) ([]string, error)
}

// Tx is a transaction of the store. Op names the change for the history.
type Tx interface {
	Now() time.Time
	Place(id string) (place.Place, error)
	Doors(placeID string) ([]place.Door, error)
	Grant(id string) (Grant, error)
	// GrantByRef finds by (place, kind, source, externalRef), GrantByPhone the
	// one without a reference by (place, kind, source, phone).
	GrantByRef(placeID, kind, source, ref string) (Grant, error)
	GrantByPhone(placeID, kind, source, phone string) (Grant, error)
	// PutGrant writes a new (old nil) or changed grant, raises the place's
	// revision and sets g.Rev.
	PutGrant(op string, g, old *Grant) error
	CustomerByRef(placeID, source, ref string) (Customer, error)
	CustomerByPhone(placeID, source, phone string) (Customer, error)
	// HasCustomer: of any source.
	HasCustomer(placeID, phone string) (bool, error)
	PutCustomer(c Customer) error
}

// Config of a Service. Clock, Store and Secret are required.
type Config struct {
	Clock   clock.Clock
	Store   Store
	Secret  []byte // entry tokens derive from it
	LinkURL string // base of entry links, without a slash at its end
	// Openings are waited for by every change; the same as server/entry begins. nil = none.
	Openings *place.Openings
	// Applied is the revision a board has applied and when; nil = never any.
	Applied func(boardID string) (rev int64, at time.Time)
}

// Service registers, revokes and lists grants.
type Service struct {
	cfg     Config
	imports imports
}

// New returns a service.
func New(cfg Config) *Service {
	if cfg.Applied == nil {
		cfg.Applied = func(string) (int64, time.Time) { return 0, time.Time{} }
	}
	return &Service{cfg: cfg, imports: imports{of: map[string]*lane{}}}
}

// change runs fn in one durable transaction. When it returns, openings that may
// have read the grants of the place as they were have sent their command.
func (s *Service) change(fn func(tx Tx) error) error { return s.changeBy(s.cfg.Store.Change, fn) }

func (s *Service) changeBy(write func(func(tx Tx) error) error, fn func(tx Tx) error) error {
	var placeID string
	err := write(func(tx Tx) error { return fn(noting{tx, &placeID}) })
	if err == nil {
		s.cfg.Openings.Wait(placeID) // [PERM-4]
	}
	return err
}

// noting is a Tx that notes the place of a grant that is found: only what is
// there can lose rights, and a repeat, which changes nothing, waits as the
// first call does.
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

// token is an entry token of a permit, never stored: the place's label, by which a router finds
// the server, and 210 bits. The generation makes the link that was revoked dead for good.
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
	m := hmac.New(sha256.New, s.cfg.Secret)
	m.Write([]byte(g.ID + "\n" + strconv.FormatInt(generation, 10)))
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}

// HashLink is how a permit is found by its entry token.
func HashLink(token string) string {
	h := sha256.Sum256([]byte("link\n" + token))
	return hex.EncodeToString(h[:])
}

// view is a permit as the partner sees it at now.
func (s *Service) view(g Grant, now time.Time) Permit {
	gen := g.Generation
	if !g.RevokedAt.IsZero() {
		gen-- // the link that was; the next one isn't anybody's yet
	}
	token := s.token(&g, gen)
	return Permit{Grant: g, State: g.State(now), Token: token, URL: s.cfg.LinkURL + "/entry?t=" + token}
}
