package planted

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/server/api"
	"github.com/doorlab/doorlab/server/board"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/place"
	"github.com/doorlab/doorlab/server/record"
)

// hasty merges an outage policy before it is the board's turn: a change that is in progress is undone.
type hasty struct{ api.Boards }

func (h hasty) SetNetloss(ctx context.Context, by record.By, boardID string, n board.Policy) (board.Policy, error) {
	channels := maps.Clone(h.Status(boardID).Policy.Channels)
	maps.Copy(channels, n.Channels)
	n.Channels = channels
	return h.Boards.SetNetloss(ctx, by, boardID, n)
}

// links are the first links of permits, by permit.
var links sync.Map

// changed changes a grant before it is written; false: it isn't written at all.
func (t grantTx) changed(op string, g, old *grant.Grant) bool {
	again := old != nil && !old.RevokedAt.IsZero() && g.RevokedAt.IsZero()
	switch t.name {
	case "pending-link-comes-back":
		if was, ok := links.LoadOrStore(g.ID, *g); ok && again && old.RevokedAt.Before(old.StartsAt) {
			first := was.(grant.Grant)
			g.Generation, g.LinkHash, g.TokenHash = first.Generation, first.LinkHash, first.TokenHash
		}
	case "cancellation-before-the-begin-not-kept":
		return op != "cancel" || !t.Now().Before(g.StartsAt)
	case "new-name-alone-not-kept":
		if old != nil && g.Kind == access.KindPermit && g.Phone == old.Phone && g.StartsAt.Equal(old.StartsAt) && g.EndsAt.Equal(old.EndsAt) {
			g.Name = old.Name
		}
	case "end-that-moves-by-a-millisecond-not-kept":
		if old != nil && g.EndsAt.Sub(old.EndsAt).Abs() == time.Millisecond {
			g.EndsAt = old.EndsAt
		}
	case "link-of-a-revocation-by-id-comes-back":
		if _, byID := links.LoadAndDelete("by id " + g.ID); byID && op == "revoke" {
			g.Generation = old.Generation
		}
	case "passed-on-membership-makes-no-customer":
		if old != nil && g.Kind == access.KindMembership && old.Phone != g.Phone {
			links.Store("passed to "+g.PlaceID+g.Phone, true)
		}
	case "end-of-a-membership-stays":
		if old != nil && g.Kind == access.KindMembership && g.EndsAt.IsZero() {
			g.EndsAt = old.EndsAt
		}
	}
	return true
}

// freely rings at a place whose phone entry is off if one of its doors has a free window.
func (s entryStore) freely(p place.Place) place.Place {
	ds, _ := s.Store.Doors(p.ID)
	for _, d := range ds {
		ps, _ := s.Store.Policies(p.ID, d.ID)
		p.PhoneEnabled = p.PhoneEnabled || slices.ContainsFunc(ps, func(w access.Window) bool { return w.Mode == access.ModeFree })
	}
	return p
}
