package console

import (
	"net/http"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/grant"
)

// grants lists a place's grants of one kind (permits by default), newest first.
func (c Config) grants(w http.ResponseWriter, r *http.Request) {
	placeID, kind := r.URL.Query().Get("placeId"), r.URL.Query().Get("kind")
	if placeID == "" {
		refuse(w, fail.Missing("placeId"))
		return
	}
	limit, offset, ok := control.Page(w, r, 500)
	if !ok {
		return
	}
	_, err := c.Explain.Place(placeID)
	err = c.noPlace(placeID, err)
	q := grant.ListQuery{Limit: limit, Offset: offset}
	views, total := []control.Grant{}, 0
	switch {
	case err != nil:
	case kind == "" || kind == access.KindPermit:
		var list []grant.Permit
		list, total, err = c.Grants.List(placeID, q)
		views = each.Of(list, func(p grant.Permit) control.Grant { return viewOf(p.Grant, p.State) })
	case kind == grant.Membership || kind == grant.Reservation:
		var list []grant.Term
		list, total, err = c.Grants.ListTerms(placeID, kind, q)
		views = each.Of(list, func(t grant.Term) control.Grant { return viewOf(t.Grant, t.State) })
	default:
		err = fail.New(fail.InvalidQuery, "kind must be permit, reservation or membership", "field", "kind")
	}
	if err != nil {
		refuse(w, err)
		return
	}
	control.List(w, views, total)
}

func viewOf(g grant.Grant, state string) control.Grant {
	_, label := access.MaskPhone(g.Phone)
	return control.Grant{GrantID: g.ID, Kind: g.Kind, ExternalRef: g.ExternalRef, Name: g.Name, Person: label, State: state,
		StartsAt: g.StartsAt.UTC().Format(control.TimeFormat), EndsAt: control.TimeOrNull(g.EndsAt), DoorIDs: g.Doors, UseCount: g.UseCount, RevokedAt: control.TimeOrNull(g.RevokedAt)}
}
