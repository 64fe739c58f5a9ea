package entry

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/grant"
)

func linkInvalid() error {
	return fail.New(fail.LinkInvalid, "the link is not valid or has been revoked")
}

// Link returns what the page of an entry link shows; it opens nothing. Errors (*fail.Error): link_invalid; the store's.
func (s *Service) Link(token string) (LinkView, error) {
	g, err := s.cfg.Store.GrantByLink(grant.HashLink(token))
	if errors.Is(err, fail.ErrNotFound) || err == nil && !g.RevokedAt.IsZero() { // [PERM-4]
		return LinkView{}, linkInvalid()
	}
	if err != nil {
		return LinkView{}, err
	}
	p, err := s.cfg.Store.Place(g.PlaceID)
	if err != nil {
		return LinkView{}, err
	}
	doors, err := s.cfg.Store.Doors(g.PlaceID)
	if err != nil {
		return LinkView{}, err
	}
	hours := p.Hours()
	v := LinkView{PlaceName: p.Name, State: g.State(s.cfg.Clock.Now()), StartsAt: hours.In(g.StartsAt), EndsAt: hours.In(g.EndsAt), Doors: []LinkDoor{}}
	for _, d := range doors {
		if slices.Contains(g.Doors, d.ID) {
			v.Doors = append(v.Doors, LinkDoor{d.ID, d.Name})
		}
	}
	return v, nil
}

// LinkPlace is the place of a link, even a revoked one; "" for a token that was never a link. Errors: the store's.
func (s *Service) LinkPlace(token string) (string, error) {
	g, err := s.cfg.Store.GrantByLink(grant.HashLink(token))
	if errors.Is(err, fail.ErrNotFound) {
		return "", nil
	}
	return g.PlaceID, err
}

// Open presses the button of a door, see PERM-1 and ENT-3. Presses of one link's button for one door within 3 s are one
// opening: later callers get the first one's answer, even while it is still running. Denials and limits are errors
// (*fail.Error): link_invalid, device_not_found, entry_denied with details.rule, rate_limited with RetryAfter. The
// outcome of a sent command is a result, see OpenResult.Failure. Other errors are the Executor's and the store's.
func (s *Service) Open(ctx context.Context, token, doorID string) (res OpenResult, err error) {
	for range manyChanges {
		var again bool
		if res, again, err = s.openOnce(ctx, token, doorID); !again {
			return res, err
		}
	}
	return OpenResult{}, fail.New(fail.StorageUnavailable, "the permit keeps changing; try again")
}

// manyChanges is how often a permit may change while its link is pressed.
const manyChanges = 10

// openOnce is Open unless the permit changes in between.
func (s *Service) openOnce(ctx context.Context, token, doorID string) (_ OpenResult, again bool, err error) {
	link := grant.HashLink(token)
	g, err := s.cfg.Store.GrantByLink(link)
	if errors.Is(err, fail.ErrNotFound) || err == nil && !g.RevokedAt.IsZero() { // [PERM-4]
		return OpenResult{}, false, s.deadLink(g, link, doorID)
	}
	if err != nil {
		return OpenResult{}, false, err
	}
	d, err := s.cfg.Store.Door(doorID)
	if errors.Is(err, fail.ErrNotFound) || err == nil && d.PlaceID != g.PlaceID {
		return OpenResult{}, false, fail.New(fail.DeviceNotFound, "door not found")
	}
	if err != nil {
		return OpenResult{}, false, err
	}
	v, err := s.visit(vocab.Link, g.PlaceID, d.ID, g.Phone)
	if err != nil {
		return OpenResult{}, false, err
	}
	defer v.end()
	v.mark = link
	if !v.holds(g) { // changed since it was read
		return OpenResult{}, true, nil
	}
	a := v.decide(d.ID) // [PERM-1] before any remembered answer, so a revocation takes effect at once
	if !a.Allow {
		if ok, retry := s.denials.Allow(link, v.now); !ok {
			return OpenResult{}, false, tooManyDenials(retry)
		}
		if err := s.deny(Denial{PlaceID: g.PlaceID, DoorID: d.ID, GrantID: g.ID, Method: v.method, Reason: a.Reason, At: v.now}, v.phone); err != nil {
			return OpenResult{}, false, err
		}
		return OpenResult{}, false, fail.New(fail.EntryDenied, "entry is denied: "+string(a.Reason), "rule", string(a.Reason))
	}
	res, err := s.press(ctx, button{link, d.ID}, v, func() (OpenResult, error) {
		res, err := s.open(ctx, v, d.ID, a)
		return OpenResult{Result: result(res), DoorID: d.ID, DoorName: d.Name, Device: res}, err
	})
	return res, false, err
}

// holds reports whether the link's permit still belongs to the visitor, unchanged since it was read.
func (v visit) holds(g grant.Grant) bool {
	return slices.ContainsFunc(v.grants, func(x access.Grant) bool {
		return x.ID == g.ID && x.TokenHash == g.TokenHash && !x.Revoked
	})
}

// deadLink records an attempt with an unknown or revoked link if the place is known, from the permit or else from the
// door, see ENT-4. Each link gets 60 answers per minute. Made-up links are new each time: they share a number of records
// per place, and a table of their own, so that they can't make the server forget others.
func (s *Service) deadLink(g grant.Grant, link, doorID string) error {
	now, limits := s.cfg.Clock.Now(), s.denials
	unknown := g.PlaceID == ""
	if unknown {
		limits = s.unknown
	}
	if ok, retry := limits.Allow(link, now); !ok {
		return tooManyDenials(retry)
	}
	d, err := s.cfg.Store.Door(doorID)
	if err != nil && !errors.Is(err, fail.ErrNotFound) {
		return err
	}
	if unknown {
		g.PlaceID = d.PlaceID
	}
	if d.PlaceID != g.PlaceID {
		d.ID = ""
	}
	if g.PlaceID == "" {
		return linkInvalid()
	}
	if unknown {
		if ok, _ := s.denials.Allow(g.PlaceID, now); !ok {
			return linkInvalid()
		}
	}
	if err := s.deny(Denial{PlaceID: g.PlaceID, DoorID: d.ID, GrantID: g.ID, Method: vocab.Link, Reason: vocab.LinkInvalid, At: now}, g.Phone); err != nil {
		return err
	}
	return linkInvalid()
}

func tooManyDenials(retry time.Duration) error {
	return &fail.Error{Code: fail.RateLimited, Message: "too many refused attempts with this link", RetryAfter: retry}
}
