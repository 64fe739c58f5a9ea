package api

import (
	"github.com/doorlab/doorlab/server/grant"
)

type registered struct {
	PermitID   string `json:"permitId"`
	EntryToken string `json:"entryToken"`
	URL        string `json:"url"`
}

type permit struct {
	PermitID    string `json:"permitId"`
	ExternalRef string `json:"externalRef"`
	Name        string `json:"name"`
	PhoneTail   string `json:"phoneTail"`
	State       string `json:"state"`
	StartsAt    stamp  `json:"startsAt"`
	EndsAt      stamp  `json:"endsAt"`
	UseCount    int64  `json:"useCount"`
	FirstUsedAt stamp  `json:"firstUsedAt"`
	URL         string `json:"url"`
}

type permitDetail struct {
	permit
	DoorIDs      []string   `json:"doorIds"`
	CreatedAt    stamp      `json:"createdAt"`
	UpdatedAt    stamp      `json:"updatedAt"`
	RevokedAt    stamp      `json:"revokedAt"`
	RevokeReason *string    `json:"revokeReason"`
	Sync         permitSync `json:"sync"`
}

type permitSync struct {
	State        string `json:"state"`
	Boards       int    `json:"boards"`
	SyncedBoards int    `json:"syncedBoards"`
	LastSyncedAt stamp  `json:"lastSyncedAt"`
}

type revoked struct {
	PermitID    string  `json:"permitId"`
	ExternalRef string  `json:"externalRef"`
	State       string  `json:"state"`
	RevokedAt   stamp   `json:"revokedAt"`
	Reason      *string `json:"reason"`
}

// createPermit registers a permit, or changes the one of that reference [PERM-2] [PERM-3].
func createPermit(c *call) (any, error) {
	g, err := c.api.cfg.Grants.Register(c.r.Context(), c.by(), grant.RegisterRequest{
		ExternalRef: c.body.text("externalRef"), Phone: c.body.text("phone"), Name: c.body.text("name"),
		StartsAt: c.body.at("startsAt"), EndsAt: c.body.at("endsAt"), DoorIDs: c.body.texts("doorIds"),
	})
	if err != nil {
		return nil, err
	}
	return registered{PermitID: g.Permit.ID, EntryToken: g.Token, URL: g.Permit.URL}, nil
}

// revokePermit revokes by externalRef or permitId [PERM-4].
func revokePermit(c *call) (any, error) {
	p, err := c.api.cfg.Grants.Revoke(c.r.Context(), c.by(), grant.RevokeRequest{
		ExternalRef: c.body.text("externalRef"), PermitID: c.body.text("permitId"), Reason: c.body.text("reason"),
	})
	if err != nil {
		return nil, err
	}
	return revoked{PermitID: p.ID, ExternalRef: p.ExternalRef, State: p.State, RevokedAt: stamp(p.RevokedAt), Reason: orNull(p.RevokeReason)}, nil
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
	return permitDetail{permit: permitView(p.Permit), DoorIDs: append([]string{}, p.Doors...),
		CreatedAt: stamp(p.CreatedAt), UpdatedAt: stamp(p.UpdatedAt), RevokedAt: stamp(p.RevokedAt), RevokeReason: orNull(p.RevokeReason),
		Sync: permitSync{State: p.Sync.State, Boards: p.Sync.Boards, SyncedBoards: p.Sync.SyncedBoards, LastSyncedAt: stamp(p.Sync.LastSyncedAt)},
	}, nil
}

func permitView(p grant.Permit) permit {
	return permit{PermitID: p.ID, ExternalRef: p.ExternalRef, Name: p.Name, PhoneTail: tail(p.Phone), State: p.State,
		StartsAt: stamp(p.StartsAt), EndsAt: stamp(p.EndsAt), UseCount: p.UseCount, FirstUsedAt: stamp(p.FirstUsedAt), URL: p.URL}
}
