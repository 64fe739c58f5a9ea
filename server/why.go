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

// visitor turns what is known of a person into the hashes by which recordings know them. fail.ErrNotFound for an unknown
// grant.
func (s *Server) visitor(placeID string, by console.Person) (v console.Visitor, err error) {
	key := access.NewPhoneKey(s.secret.Of("phones"), placeID)
	v.PhoneHash, v.TokenHash = by.PhoneHash, by.TokenHash
	phone := by.Phone
	switch {
	case by.GrantID != "":
		g, err := s.store.Grant(by.GrantID)
		if err == nil && g.PlaceID != placeID {
			err = fail.ErrNotFound
		}
		if err != nil {
			return v, err
		}
		phone = g.Phone
	case by.Token != "":
		g, err := s.store.GrantByLink(grant.HashLink(by.Token))
		if err != nil && !errors.Is(err, fail.ErrNotFound) {
			return v, err
		}
		if v.TokenHash = access.HashToken(placeID, by.Token); g.PlaceID == placeID {
			phone = g.Phone
		}
	case by.TokenHash != "":
		phone, err = s.store.PhoneOfToken(placeID, by.TokenHash)
	case by.PhoneHash != "":
		phone, err = s.store.PhoneWhich(placeID, func(phone string) bool { return key.Hash(phone) == by.PhoneHash })
	}
	if err != nil {
		return v, err
	}
	phone = access.National(phone)
	if v.TokenHash == "" && v.PhoneHash == "" {
		v.PhoneHash = key.Hash(phone)
	}
	if v.Actor, v.Label = access.MaskPhone(phone); phone == "" && by.PhoneHash != "" {
		v.Actor = "" // records of everybody unknown have the same one
	}
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
