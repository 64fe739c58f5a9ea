package api

import (
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

// listMemberships lists memberships.
func listMemberships(c *call) (any, error) {
	terms, total, err := c.api.cfg.Grants.ListMemberships(c.r.Context(), c.who.PlaceID, c.page())
	if err != nil {
		return nil, err
	}
	return list{each(terms, membershipView), total}, nil
}

// listReservations lists reservations.
func listReservations(c *call) (any, error) {
	terms, total, err := c.api.cfg.Grants.ListReservations(c.r.Context(), c.who.PlaceID, c.page())
	if err != nil {
		return nil, err
	}
	return list{each(terms, reservationView), total}, nil
}

// createReservation makes a reservation.
func createReservation(c *call) (any, error) {
	t, err := c.api.cfg.Grants.CreateReservation(c.r.Context(), c.by(), grant.TermRequest{
		ExternalRef: c.body.text("externalRef"), Phone: c.body.text("phone"), Name: c.body.text("name"),
		StartsAt: c.body.at("startsAt"), EndsAt: c.body.at("endsAt"), DoorIDs: c.body.texts("doorIds"),
	})
	if err != nil {
		return nil, err
	}
	return reservationView(t), nil
}

// cancelReservation ends a reservation.
func cancelReservation(c *call) (any, error) {
	t, err := c.api.cfg.Grants.CancelReservation(c.r.Context(), c.by(), c.path("reservationId"))
	if err != nil {
		return nil, err
	}
	return reservationView(t), nil
}

// listCustomers lists customers.
func listCustomers(c *call) (any, error) {
	customers, total, err := c.api.cfg.Grants.ListCustomers(c.r.Context(), c.who.PlaceID, c.page())
	if err != nil {
		return nil, err
	}
	return list{each(customers, func(x grant.Customer) gen.Customer {
		return gen.Customer{CustomerID: x.ID, ExternalRef: orNull(x.ExternalRef), Source: x.Source, Name: x.Name,
			PhoneTail: tail(x.Phone), CreatedAt: stamp.Time(x.CreatedAt), UpdatedAt: stamp.Time(x.UpdatedAt)}
	}), total}, nil
}
