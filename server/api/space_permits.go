package api

import (
	gen "github.com/doorlab/doorlab/server/api/gen/space"
	"github.com/doorlab/doorlab/server/api/stamp"
	"github.com/doorlab/doorlab/server/grant"
)

// createPermit registers a permit, or changes the one with that reference.
func createPermit(c *call, b gen.CreatePermitBody) (any, error) {
	p, err := c.api.cfg.Grants.Register(c.caller(), grant.RegisterRequest{
		ExternalRef: &b.ExternalRef, Phone: &b.Phone, Name: &b.Name,
		StartsAt: b.StartsAt.Ptr(), EndsAt: b.EndsAt.Ptr(), DoorIDs: b.DoorIDs,
	})
	return gen.Registered{PermitID: p.ID, EntryToken: p.Token, URL: p.URL}, err
}

// revokePermit revokes by externalRef or permitId.
func revokePermit(c *call, b gen.RevokePermitBody) (any, error) {
	p, err := c.api.cfg.Grants.Revoke(c.caller(), grant.RevokeRequest{
		ExternalRef: orNull(b.ExternalRef), PermitID: orNull(b.PermitID), Reason: orNull(b.Reason),
	})
	return gen.Revoked{PermitID: p.ID, ExternalRef: p.ExternalRef, State: p.State, RevokedAt: stamp.Time(p.RevokedAt), Reason: orNull(p.RevokeReason)}, err
}

// listPermits lists the partner's permits.
func listPermits(c *call) (any, error) {
	permits, total, err := c.api.cfg.Grants.List(c.who.PlaceID, c.page())
	return listed(permits, total, func(b []byte, p *grant.Permit) []byte {
		v := permitView(*p)
		return appendPermit(b, &v)
	}), err
}

// getPermit shows one permit, and how far its synchronization has got.
func getPermit(c *call) (any, error) {
	p, err := c.api.cfg.Grants.Get(c.who.PlaceID, c.path("permitId"))
	return gen.PermitDetail{Permit: permitView(p), DoorIDs: append([]string{}, p.Doors...),
		CreatedAt: stamp.Time(p.CreatedAt), UpdatedAt: stamp.Time(p.UpdatedAt), RevokedAt: stamp.Time(p.RevokedAt), RevokeReason: orNull(p.RevokeReason),
		Sync: gen.Sync{State: p.Sync.State, Boards: p.Sync.Boards, SyncedBoards: p.Sync.SyncedBoards, LastSyncedAt: stamp.Time(p.Sync.LastSyncedAt)},
	}, err
}

func permitView(p grant.Permit) gen.Permit {
	return gen.Permit{PermitID: p.ID, ExternalRef: p.ExternalRef, Name: p.Name, PhoneTail: tail(p.Phone), State: p.State,
		StartsAt: stamp.Time(p.StartsAt), EndsAt: stamp.Time(p.EndsAt), UseCount: int(p.UseCount), FirstUsedAt: stamp.Time(p.FirstUsedAt), URL: p.URL}
}
