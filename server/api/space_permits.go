package api

import (
	gen "github.com/doorlab/doorlab/server/api/gen/space"
	"github.com/doorlab/doorlab/server/api/stamp"
	"github.com/doorlab/doorlab/server/grant"
)

// createPermit registers a permit, or changes the one of that reference [PERM-2] [PERM-3].
func createPermit(c *call) (any, error) {
	g, err := c.api.cfg.Grants.Register(c.r.Context(), c.by(), grant.RegisterRequest{
		ExternalRef: c.body.text("externalRef"), Phone: c.body.text("phone"), Name: c.body.text("name"),
		StartsAt: c.body.at("startsAt"), EndsAt: c.body.at("endsAt"), DoorIDs: c.body.texts("doorIds"),
	})
	if err != nil {
		return nil, err
	}
	return gen.Registered{PermitID: g.Permit.ID, EntryToken: g.Token, URL: g.Permit.URL}, nil
}

// revokePermit revokes by externalRef or permitId [PERM-4].
func revokePermit(c *call) (any, error) {
	p, err := c.api.cfg.Grants.Revoke(c.r.Context(), c.by(), grant.RevokeRequest{
		ExternalRef: c.body.text("externalRef"), PermitID: c.body.text("permitId"), Reason: c.body.text("reason"),
	})
	if err != nil {
		return nil, err
	}
	return gen.Revoked{PermitID: p.ID, ExternalRef: p.ExternalRef, State: p.State, RevokedAt: stamp.Time(p.RevokedAt), Reason: orNull(p.RevokeReason)}, nil
}

// listPermits lists the partner's permits.
func listPermits(c *call) (any, error) {
	permits, total, err := c.api.cfg.Grants.List(c.r.Context(), c.who.PlaceID, c.page())
	if err != nil {
		return nil, err
	}
	return list{each(permits, permitView), total}, nil
}

// getPermit shows one permit, with how far it has been synchronized.
func getPermit(c *call) (any, error) {
	p, err := c.api.cfg.Grants.Get(c.r.Context(), c.who.PlaceID, c.path("permitId"))
	if err != nil {
		return nil, err
	}
	v := permitView(p.Permit)
	return gen.PermitDetail{PermitID: v.PermitID, ExternalRef: v.ExternalRef, Name: v.Name, PhoneTail: v.PhoneTail, State: v.State,
		StartsAt: v.StartsAt, EndsAt: v.EndsAt, UseCount: v.UseCount, FirstUsedAt: v.FirstUsedAt, URL: v.URL, DoorIDs: append([]string{}, p.Doors...),
		CreatedAt: stamp.Time(p.CreatedAt), UpdatedAt: stamp.Time(p.UpdatedAt), RevokedAt: stamp.Time(p.RevokedAt), RevokeReason: orNull(p.RevokeReason),
		Sync: gen.Sync{State: p.Sync.State, Boards: p.Sync.Boards, SyncedBoards: p.Sync.SyncedBoards, LastSyncedAt: stamp.Time(p.Sync.LastSyncedAt)},
	}, nil
}

func permitView(p grant.Permit) gen.Permit {
	return gen.Permit{PermitID: p.ID, ExternalRef: p.ExternalRef, Name: p.Name, PhoneTail: tail(p.Phone), State: p.State,
		StartsAt: stamp.Time(p.StartsAt), EndsAt: stamp.Time(p.EndsAt), UseCount: int(p.UseCount), FirstUsedAt: stamp.Time(p.FirstUsedAt), URL: p.URL}
}
