package grant

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/server/place"
)

// Store is what grants need. Rows that are not there: rule.ErrNotFound.
type Store interface {
	// Change runs fn in one durable transaction; an error of fn undoes it.
	Change(fn func(tx Tx) error) error
	Grant(id string) (Grant, error)
	// ListGrants: newest first, of one kind; total counts the matches.
	ListGrants(placeID, kind string, q ListQuery) (list []Grant, total int, err error)
	ListCustomers(placeID string, q ListQuery) (list []Customer, total int, err error)
	Boards(placeID string) ([]place.Board, error)
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
	Secret  []byte // entry tokens derive from it: store.Secret("entry links")
	LinkURL string // base of entry links, without a slash at its end
	// Applied is the revision a board has applied and when; nil = never any.
	Applied func(boardID string) (rev int64, at time.Time)
}

// Service registers, revokes and lists grants.
type Service struct{ cfg Config }

// New returns a service.
func New(cfg Config) *Service {
	if cfg.Applied == nil {
		cfg.Applied = func(string) (int64, time.Time) { return 0, time.Time{} }
	}
	return &Service{cfg: cfg}
}

// token is a permit's entry token: 256 bit, never stored. The generation makes
// the link that was revoked dead for good.
func (s *Service) token(permitID string, generation int64) string {
	m := hmac.New(sha256.New, s.cfg.Secret)
	m.Write([]byte(permitID + "\n" + strconv.FormatInt(generation, 10)))
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}

// HashLink is how a permit is found by its entry token.
func HashLink(token string) string {
	h := sha256.Sum256([]byte("link\n" + token))
	return hex.EncodeToString(h[:])
}

// URL is the entry link of a token.
func (s *Service) URL(token string) string { return s.cfg.LinkURL + "/entry?t=" + token }

// view is a permit as the partner sees it at now.
func (s *Service) view(g Grant, now time.Time) Permit {
	gen := g.Generation
	if !g.RevokedAt.IsZero() {
		gen-- // the link that was; the next one is nobody's business yet
	}
	return Permit{Grant: g, State: g.State(now), URL: s.URL(s.token(g.ID, gen))}
}

// Register creates a permit or, under a known externalRef, replaces its period,
// phone and name and clears its revocation [PERM-2] [PERM-3]. Errors
// (*rule.Error): missing_field, invalid_field, invalid_phone, invalid_period,
// invalid_door_ids, empty_door_ids, permit_period_too_long, rule_violated (no
// entry door); the store's.
func (s *Service) Register(ctx context.Context, by By, r RegisterRequest) (Registered, error) {
	return s.register(by, r)
}

// Revoke revokes a permit; its link is dead at once [PERM-4]. A repeat keeps
// the first time and reason. Errors: missing_field, invalid_field,
// permit_not_found; the store's.
func (s *Service) Revoke(ctx context.Context, by By, r RevokeRequest) (Permit, error) {
	return s.revoke(by, r)
}

// List lists the permits of a place, newest first.
func (s *Service) List(ctx context.Context, placeID string, q ListQuery) (list []Permit, total int, err error) {
	return s.listPermits(placeID, q)
}

// Get reads one permit. Errors: permit_not_found; the store's.
func (s *Service) Get(ctx context.Context, placeID, permitID string) (PermitDetail, error) {
	return s.get(placeID, permitID)
}

// CreateMembership and CreateReservation make a grant with no limit of length;
// under a known externalRef they replace it. Errors: as Register, without
// permit_period_too_long.
func (s *Service) CreateMembership(ctx context.Context, by By, r TermRequest) (Term, error) {
	return s.createTerm(by, "membership", r)
}

// CreateReservation is CreateMembership for a reservation.
func (s *Service) CreateReservation(ctx context.Context, by By, r TermRequest) (Term, error) {
	return s.createTerm(by, "reservation", r)
}

// CancelReservation ends a reservation; a repeat changes nothing. Errors:
// not_found; the store's.
func (s *Service) CancelReservation(ctx context.Context, by By, id string) (Term, error) {
	return s.cancel(by, "reservation", id)
}

// CancelMembership is CancelReservation for a membership.
func (s *Service) CancelMembership(ctx context.Context, by By, id string) (Term, error) {
	return s.cancel(by, "membership", id)
}

// ListMemberships, ListReservations and ListCustomers: newest first.
func (s *Service) ListMemberships(ctx context.Context, placeID string, q ListQuery) (list []Term, total int, err error) {
	return s.listTerms(placeID, "membership", q)
}

// ListReservations lists reservations.
func (s *Service) ListReservations(ctx context.Context, placeID string, q ListQuery) (list []Term, total int, err error) {
	return s.listTerms(placeID, "reservation", q)
}

// ListCustomers lists customers.
func (s *Service) ListCustomers(ctx context.Context, placeID string, q ListQuery) (list []Customer, total int, err error) {
	return s.cfg.Store.ListCustomers(placeID, paged(q))
}

// ImportCustomers imports 1..5000 rows {externalRef, phone, name?}; each stands
// alone, they apply in order, the same file again changes nothing [IMP-1].
// Errors, of the envelope only: missing_field, invalid_field; the store's.
func (s *Service) ImportCustomers(ctx context.Context, by By, r ImportRequest) (ImportResult, error) {
	return s.importRows(by, r, s.customerRow)
}

// ImportMemberships imports rows {externalRef, phone, name?, startsAt, endsAt?,
// doorIds?}; a customer is made when the phone is new.
func (s *Service) ImportMemberships(ctx context.Context, by By, r ImportRequest) (ImportResult, error) {
	return s.importRows(by, r, s.membershipRow)
}
