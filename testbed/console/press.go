package console

import (
	"context"
	"crypto/rand"
	"net/http"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/each"
)

// press opens, holds or closes a door as a partner does: with the place's key,
// over the public API.
func (c *Console) press(ctx context.Context, placeID, doorID, command string, minutes int) error {
	token := c.partners.of(c, placeID)
	args := map[string]any{"reason": "console"}
	if minutes > 0 {
		args["minutes"] = minutes
	}
	body := map[string]any{"capability": "door", "command": command, "args": args}
	public := c.public()
	var err error
	public.Token, err = token.Bearer(ctx)
	for again := true; err == nil; again = false {
		var a *client.Answer
		if a, err = public.Call(ctx, http.MethodPost, "/device/v1/devices/"+doorID+"/commands", "console-"+rand.Text(), body); err != nil {
			break
		}
		if a.Status != http.StatusUnauthorized || !again {
			return a.Data(nil) // the failure's message is meant for the person
		}
		public.Token, err = token.Refused(ctx, public.Token)
	}
	return err
}

func (c *Console) public() client.Client {
	return client.Client{Base: "http://127.0.0.1", HTTP: client.Inside(c.cfg.Public)}
}

// partners keeps an access token per place.
type partners struct {
	mu sync.Mutex
	by map[string]*client.Token
}

func (p *partners) of(c *Console, placeID string) *client.Token {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := p.by[placeID]; t != nil {
		return t
	}
	t := &client.Token{Now: c.cfg.Clock.Now, Ask: func(ctx context.Context) (client.Exchanged, error) {
		var places []client.Place
		if err := c.lab(ctx, http.MethodGet, "/places", nil, &places); err != nil {
			return client.Exchanged{}, err
		}
		for _, x := range places {
			if x.PlaceID == placeID && x.APIKey != nil {
				var out struct {
					AccessToken string
					ExpiresIn   int
				}
				err := c.public().Do(ctx, http.MethodPost, "/core/v1/auth/apikey/token", map[string]string{"key": *x.APIKey}, &out)
				return client.Exchanged{Token: out.AccessToken, Life: time.Duration(out.ExpiresIn) * time.Second}, err
			}
		}
		return client.Exchanged{}, badly("wrong.key")
	}}
	each.Put(&p.by, placeID, t)
	return t
}
