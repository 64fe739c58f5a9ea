package store

import (
	"database/sql"
	"encoding/json"
	"slices"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/server/age"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/store/db"
)

func grantOf(r db.Grant, err error) (grant.Grant, error) {
	if err != nil {
		return grant.Grant{}, wrap(err)
	}
	g := grant.Grant{ID: r.ID, PlaceID: r.PlaceID, Kind: r.Kind, Source: r.Source, ExternalRef: r.ExternalRef.String, Phone: r.Phone, Name: r.Name,
		StartsAt: msTime(r.StartsAt), EndsAt: fromNull(r.EndsAt), Generation: r.Generation, LinkHash: r.LinkHash.String, TokenHash: r.TokenHash,
		CreatedBy: r.CreatedBy, CreatedAt: msTime(r.CreatedAt), UpdatedAt: msTime(r.UpdatedAt), RevokedAt: fromNull(r.RevokedAt),
		RevokeReason: r.RevokeReason.String, UseCount: r.UseCount, FirstUsedAt: fromNull(r.FirstUsedAt), Rev: r.Rev, LeftRev: r.LeftRev.Int64}
	var doors []string // not &g.Doors, which would move all of g to the heap
	err = json.Unmarshal([]byte(r.Doors), &doors)
	g.Doors = doors
	return g, err
}

// Grant reads one grant of any kind. Error: fail.ErrNotFound.
func (s *Store) Grant(id string) (grant.Grant, error) { return grantOf(s.q.Grant(ctx, id)) }

// GrantByLink finds a permit by the hash of its entry token; a revoked permit by that of its last, now dead, one.
// fail.ErrNotFound.
func (s *Store) GrantByLink(linkHash string) (grant.Grant, error) {
	return grantOf(s.q.GrantByLink(ctx, text(linkHash)))
}

// GrantsOf lists every grant of a person, any state.
func (s *Store) GrantsOf(placeID, phone string) ([]grant.Grant, error) {
	return converted(grantOf)(s.q.GrantsOf(ctx, placeID, phone))
}

// PhoneOfToken is the phone of the permit with a token that hashes like this, "" = no such permit.
func (s *Store) PhoneOfToken(placeID, tokenHash string) (string, error) {
	g, err := none(grantOf(s.q.GrantByToken(ctx, tokenHash, placeID)))
	return g.Phone, err
}

// PhoneWhich is the first phone of a place's grants, of any state, for which is reports true; "" = none.
func (s *Store) PhoneWhich(placeID string, is func(phone string) bool) (string, error) {
	phones, err := s.q.PhonesOf(ctx, placeID)
	if at := slices.IndexFunc(phones, is); err == nil && at >= 0 {
		return phones[at], nil
	}
	return "", wrap(err)
}

// putGrant writes a new or changed grant, raises the place's revision and updates the content digest. It sets g.Rev and
// g.LeftRev.
func (t *Tx) putGrant(g, old *grant.Grant) error {
	rev, err := t.raise(g.PlaceID)
	if err != nil {
		return err
	}
	g.Rev = rev
	if old != nil && old.LeftRev == 0 {
		if err := t.toggle(g.PlaceID, "grant", old.Content(t.PhoneKey(g.PlaceID))); err != nil {
			return err
		}
	}
	g.LeftRev = 0
	var leftOn int64
	if g.Left(t.come) {
		g.LeftRev, leftOn = rev, t.day()
	} else if err := t.toggle(g.PlaceID, "grant", g.Content(t.PhoneKey(g.PlaceID))); err != nil {
		return err
	}
	if err := t.passOn(*g, old); err != nil {
		return err
	}
	return t.q.PutGrant(ctx, db.PutGrantParams{ID: g.ID, PlaceID: g.PlaceID, Kind: g.Kind, Source: g.Source, ExternalRef: text(g.ExternalRef),
		Phone: g.Phone, Name: g.Name, StartsAt: g.StartsAt.UnixMilli(), EndsAt: toNull(g.EndsAt), Doors: jsonText(g.Doors),
		Generation: g.Generation, LinkHash: text(g.LinkHash), TokenHash: g.TokenHash, CreatedBy: g.CreatedBy,
		CreatedAt: g.CreatedAt.UnixMilli(), UpdatedAt: g.UpdatedAt.UnixMilli(), RevokedAt: toNull(g.RevokedAt),
		RevokeReason: text(g.RevokeReason), UseCount: g.UseCount, FirstUsedAt: toNull(g.FirstUsedAt), Rev: g.Rev,
		LeavesAt: toNull(g.LeavesAt()), LeftRev: sql.NullInt64{Int64: g.LeftRev, Valid: g.LeftRev > 0}, LeftOn: leftOn})
}

// passOn keeps whom a grant was for if it is somebody else's now: a board that doesn't know yet may still let them in.
func (t *Tx) passOn(g grant.Grant, old *grant.Grant) error {
	if old == nil || old.Phone == g.Phone {
		return nil
	}
	actor, label := access.MaskPhone(old.Phone)
	return t.q.PutEarlierHolder(ctx, db.PutEarlierHolderParams{GrantID: g.ID, PhoneHash: t.PhoneKey(g.PlaceID).Hash(old.Phone),
		Actor: actor, Label: label, Until: t.Now.UnixMilli()})
}

// Leave removes grants that boards no longer need from their places' content, and restores those that were removed
// while the machine's clock was ahead; at most limit of each. n is the larger of the two numbers.
func (s *Store) Leave(limit int) (n int, err error) {
	err = s.write(func(tx *Tx) error {
		at, most := toNull(tx.come), int64(limit)
		left, err := converted(grantOf)(tx.q.GrantsLeaving(ctx, at, most))
		if err != nil {
			return err
		}
		back, err := converted(grantOf)(tx.q.GrantsReturning(ctx, at, most))
		if err != nil {
			return err
		}
		n = max(len(left), len(back))
		told := map[string]bool{}
		for i, g := range append(left, back...) {
			rev, err := tx.raise(g.PlaceID)
			if err != nil {
				return err
			}
			if !told[g.PlaceID] {
				told[g.PlaceID] = true
				tx.note(g.PlaceID, history.Ended, "")
			}
			if err := tx.toggle(g.PlaceID, "grant", g.Content(tx.PhoneKey(g.PlaceID))); err != nil {
				return err
			}
			if i < len(left) {
				err = tx.q.LeaveContent(ctx, db.LeaveContentParams{LeftRev: sql.NullInt64{Int64: rev, Valid: true}, LeftOn: age.Day(s.ages.Passed(g.LeavesAt())), ID: g.ID})
			} else {
				err = tx.q.ReturnToContent(ctx, rev, g.ID)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return n, err
}
