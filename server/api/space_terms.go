package api

import "github.com/doorlab/doorlab/server/grant"

type term struct {
	ExternalRef *string  `json:"externalRef"`
	Name        string   `json:"name"`
	PhoneTail   string   `json:"phoneTail"`
	State       string   `json:"state"`
	StartsAt    stamp    `json:"startsAt"`
	EndsAt      stamp    `json:"endsAt"`
	DoorIDs     []string `json:"doorIds"`
	CreatedAt   stamp    `json:"createdAt"`
	UpdatedAt   stamp    `json:"updatedAt"`
}

type membership struct {
	MembershipID string `json:"membershipId"`
	Source       string `json:"source"`
	term
}

type reservation struct {
	ReservationID string `json:"reservationId"`
	term
	CancelledAt stamp `json:"cancelledAt"`
}

type customer struct {
	CustomerID  string  `json:"customerId"`
	ExternalRef *string `json:"externalRef"`
	Source      string  `json:"source"`
	Name        string  `json:"name"`
	PhoneTail   string  `json:"phoneTail"`
	CreatedAt   stamp   `json:"createdAt"`
	UpdatedAt   stamp   `json:"updatedAt"`
}

func termView(t grant.Term) term {
	return term{ExternalRef: orNull(t.ExternalRef), Name: t.Name, PhoneTail: tail(t.Phone), State: t.State, StartsAt: stamp(t.StartsAt),
		EndsAt: stamp(t.EndsAt), DoorIDs: append([]string{}, t.Doors...), CreatedAt: stamp(t.CreatedAt), UpdatedAt: stamp(t.UpdatedAt)}
}

func reservationView(t grant.Term) reservation {
	return reservation{ReservationID: t.ID, term: termView(t), CancelledAt: stamp(t.RevokedAt)}
}

// listMemberships lists memberships.
func listMemberships(c *call) (any, error) {
	terms, total, err := c.api.cfg.Grants.ListMemberships(c.r.Context(), c.who.PlaceID, c.page())
	if err != nil {
		return nil, err
	}
	return list{each(terms, func(t grant.Term) membership {
		return membership{MembershipID: t.ID, Source: t.Source, term: termView(t)}
	}), total}, nil
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
	return list{each(customers, func(x grant.Customer) customer {
		return customer{CustomerID: x.ID, ExternalRef: orNull(x.ExternalRef), Source: x.Source, Name: x.Name,
			PhoneTail: tail(x.Phone), CreatedAt: stamp(x.CreatedAt), UpdatedAt: stamp(x.UpdatedAt)}
	}), total}, nil
}
