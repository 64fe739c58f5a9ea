package api

import (
	"github.com/doorlab/doorlab/internal/each"
	gen "github.com/doorlab/doorlab/server/api/gen/space"
	"github.com/doorlab/doorlab/server/api/stamp"
	"github.com/doorlab/doorlab/server/grant"
)

func membershipView(t grant.Term) gen.Membership {
	return gen.Membership{MembershipID: t.ID, Source: t.Source, ExternalRef: orNull(t.ExternalRef), Name: t.Name, PhoneTail: tail(t.Phone),
		State: t.State, StartsAt: stamp.Time(t.StartsAt), EndsAt: stamp.Time(t.EndsAt), DoorIDs: append([]string{}, t.Doors...),
		CreatedAt: stamp.Time(t.CreatedAt), UpdatedAt: stamp.Time(t.UpdatedAt)}
}

func reservationView(t grant.Term) gen.Reservation {
	return gen.Reservation{ReservationID: t.ID, ExternalRef: orNull(t.ExternalRef), Name: t.Name, PhoneTail: tail(t.Phone),
		State: t.State, StartsAt: stamp.Time(t.StartsAt), EndsAt: stamp.Time(t.EndsAt), DoorIDs: append([]string{}, t.Doors...),
		CreatedAt: stamp.Time(t.CreatedAt), UpdatedAt: stamp.Time(t.UpdatedAt), CancelledAt: stamp.Time(t.RevokedAt)}
}

func listTerms[V any](kind string, view func(grant.Term) V) handler {
	return func(c *call) (any, error) {
		terms, total, err := c.api.cfg.Grants.ListTerms(c.who.PlaceID, kind, c.page())
		return list{each.Of(terms, view), total}, err
	}
}

func createReservation(c *call, b gen.CreateReservationBody) (any, error) {
	t, err := c.api.cfg.Grants.CreateTerm(c.caller(), grant.Reservation, grant.TermRequest{
		ExternalRef: orNull(b.ExternalRef), Phone: &b.Phone, Name: &b.Name,
		StartsAt: b.StartsAt.Ptr(), EndsAt: b.EndsAt.Ptr(), DoorIDs: b.DoorIDs,
	})
	return reservationView(t), err
}

func cancelReservation(c *call) (any, error) {
	t, err := c.api.cfg.Grants.CancelTerm(c.caller(), grant.Reservation, c.path("reservationId"))
	return reservationView(t), err
}

func listCustomers(c *call) (any, error) {
	customers, total, err := c.api.cfg.Grants.ListCustomers(c.who.PlaceID, c.page())
	return list{each.Of(customers, func(x grant.Customer) gen.Customer {
		return gen.Customer{CustomerID: x.ID, ExternalRef: orNull(x.ExternalRef), Source: x.Source, Name: x.Name,
			PhoneTail: tail(x.Phone), CreatedAt: stamp.Time(x.CreatedAt), UpdatedAt: stamp.Time(x.UpdatedAt)}
	}), total}, err
}
