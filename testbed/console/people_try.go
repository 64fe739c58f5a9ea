package console

import (
	"context"
	"net/http"
	"strings"

	"github.com/doorlab/doorlab/internal/client"
)

// visitor is somebody at a door: a phone, or a link's token.
type visitor struct{ phone, token, door string }

// try plays the person whose phone or link was typed, as the button says.
func (c *Console) try(r *http.Request) (Said, error) {
	phone, token, err := who(r)
	if err != nil {
		return Said{}, err
	}
	return c.play(r, visitor{phone, token, r.PostFormValue("door")})
}

// tryGrant plays the person of a grant, whose phone and link the page doesn't have.
func (c *Console) tryGrant(r *http.Request) (Said, error) {
	place, _ := c.placeOf(r)
	phone, token, err := c.cfg.Holder(place, r.PostFormValue("grant"))
	if err != nil {
		return Said{}, err
	}
	v := visitor{phone: phone, door: r.PostFormValue("door")}
	if r.PostFormValue("how") == "link" {
		v = visitor{token: token, door: v.door}
	}
	return c.play(r, v)
}

func (c *Console) play(r *http.Request, v visitor) (Said, error) {
	switch r.PostFormValue("how") {
	case "call":
		return c.call(r, v)
	case "link":
		return c.pressLink(r, v)
	}
	return c.present(r, v)
}

// who reads the person of a form: a phone, or the token of a link.
func who(r *http.Request) (phone, token string, err error) {
	text := r.PostFormValue("person")
	if strings.TrimSpace(text) == "" {
		return "", "", badly("wrong.person")
	}
	phone, token = client.Person(text)
	return phone, token, nil
}

// came is what came of an attempt.
type came struct {
	Answered       *bool
	Result, Reason string
	DoorID         string
}

func (c *Console) told(x came, err error) (Said, error) {
	switch {
	case err != nil:
		return Said{}, err
	case x.Answered != nil && !*x.Answered:
		return Said{Key: "people.unanswered"}, nil
	}
	door := c.names.door(x.DoorID)
	if x.Reason == "" {
		return Said{Key: "people.said", Args: []any{door, coded(x.Result)}}, nil
	}
	return Said{Key: "people.said.why", Args: []any{door, coded(x.Result), coded(x.Reason)}}, nil
}

// call calls the place's entry number.
func (c *Console) call(r *http.Request, v visitor) (Said, error) {
	if v.phone == "" {
		return Said{}, badly("wrong.caller")
	}
	var places []client.Place
	if err := c.lab(r.Context(), http.MethodGet, "/places", nil, &places); err != nil {
		return Said{}, err
	}
	place, _ := c.placeOf(r)
	for _, p := range places {
		if p.PlaceID == place && p.EntryPhone != "" {
			var out came
			err := c.lab(context.WithoutCancel(r.Context()), http.MethodPost, "/people/call", map[string]string{"to": p.EntryPhone, "from": v.phone}, &out)
			return c.told(out, err)
		}
	}
	return Said{}, badly("wrong.number")
}

// present presents a phone or a link at the door's reader.
func (c *Console) present(r *http.Request, v visitor) (Said, error) {
	body := map[string]string{"doorId": v.door}
	if v.token != "" {
		body["token"] = v.token
	} else {
		body["phone"] = v.phone
	}
	out := came{}
	err := c.lab(r.Context(), http.MethodPost, "/people/present", body, &out)
	out.DoorID = body["doorId"]
	return c.told(out, err)
}

// pressLink presses the button of an entry link's page.
func (c *Console) pressLink(r *http.Request, v visitor) (Said, error) {
	if v.token == "" {
		return Said{}, badly("wrong.presser")
	}
	out := came{}
	err := c.public().Do(context.WithoutCancel(r.Context()), http.MethodPost, "/entry/open", map[string]string{"t": v.token, "doorId": v.door}, &out)
	out.Reason = "link"
	return c.told(out, err)
}
