package server

import (
	"errors"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/why"
	"github.com/doorlab/doorlab/server/console"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/grant"
)

// explain gives explanations access to the store.
func (s *Server) explain(h ControlHooks) console.Explain {
	return console.Explain{Door: s.store.Door, Place: s.store.Place, Places: s.store.Places, Doors: s.store.Doors, Visitor: s.visitor, OnSite: s.onsite, Timeline: h.Timeline}
}

// visitor turns a phone, an entry token or a grant into the hashes by which recordings know the person.
// fail.ErrNotFound for an unknown grant.
func (s *Server) visitor(placeID, phone, token, grantID string) (v console.Visitor, err error) {
	if grantID != "" {
		g, err := s.store.Grant(grantID)
		if err == nil && g.PlaceID != placeID {
			err = fail.ErrNotFound
		}
		if err != nil {
			return v, err
		}
		phone = g.Phone
	}
	if token != "" {
		g, err := s.store.GrantByLink(grant.HashLink(token))
		if err != nil && !errors.Is(err, fail.ErrNotFound) {
			return v, err
		}
		v.TokenHash, phone = access.HashToken(placeID, token), ""
		if g.PlaceID == placeID {
			phone = g.Phone
		}
	} else {
		phone = access.National(phone)
		v.PhoneHash = access.NewPhoneKey(s.secret.Of("phones"), placeID).Hash(phone)
	}
	v.Actor, v.Label = access.MaskPhone(phone)
	v.Left, err = s.left(placeID, phone)
	return v, err
}

// left lists a person's grants that boards no longer know, or never did.
func (s *Server) left(placeID, phone string) (out []why.Left, err error) {
	list, err := s.store.GrantsOf(placeID, phone)
	key := access.NewPhoneKey(s.secret.Of("phones"), placeID)
	for _, g := range list {
		if g.LeftRev > 0 {
			out = append(out, why.Left{Grant: g.Content(key), Since: g.UpdatedAt.UnixMilli()})
		}
	}
	return out, err
}

// onSitePage is how many records are searched at once for openings on site.
const onSitePage = 10_000

// onsite lists the openings on site of the last 30 days that boards uploaded.
func (s *Server) onsite(placeID string) (out []why.Entered, err error) {
	doors, err := s.store.Doors(placeID)
	if err != nil {
		return nil, err
	}
	board := map[string]string{}
	for _, d := range doors {
		board[d.ID] = d.BoardID
	}
	since, seen := s.cfg.Clock.Now().Add(-30*24*time.Hour), map[string]bool{}
	for at := 0; ; at += onSitePage {
		list, _, err := s.store.Records(placeID, since, onSitePage, at)
		for _, r := range list {
			if r.Method == vocab.Onsite && r.Result == vocab.Opened && !seen[r.ID] { // what is recorded meanwhile moves the rest
				seen[r.ID] = true
				out = append(out, why.Entered{At: r.OccurredAt, BoardID: board[r.DoorID], DoorID: r.DoorID, GrantID: r.GrantID, Reason: r.Reason,
					Actor: r.ActorLabel, Late: r.RecordedAt.Sub(r.OccurredAt) > time.Minute})
			}
		}
		if err != nil || len(list) < onSitePage {
			return out, err
		}
	}
}
