package loadtest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/client"
)

// ErrNoDoors means that the places selected by the plan have no doors.
var ErrNoDoors = errors.New("none of them has a door that this load may use; see places in the plan (live, test or all)")

// ErrKey means that the target doesn't know a place's key.
var ErrKey = errors.New("the target rejects the API key")

const tokenPath = "/core/v1/auth/apikey/token"

// place is one place of the target and its token.
type place struct {
	Place
	api    *api
	source http.RoundTripper // from the place's own address
	from   string            // ... which is this, "" = the machine's own
	token  *client.Token
	scopes []string // of the key
}

func newPlace(p Place, a *api, source http.RoundTripper, from string) *place {
	pl := &place{Place: p, api: a, source: source, from: from}
	pl.token = &client.Token{Now: a.now, Ask: pl.ask}
	return pl
}

// ask makes one exchange.
func (p *place) ask(ctx context.Context) (x client.Exchanged, err error) {
	body, _ := json.Marshal(map[string]string{"key": p.APIKey})
	a, err := p.api.call(ctx, p.source, request{method: http.MethodPost, route: tokenPath, path: tokenPath, place: p.PlaceID, body: body, from: p.from})
	var data struct {
		AccessToken string   `json:"accessToken"`
		ExpiresIn   int      `json:"expiresIn"`
		Scopes      []string `json:"scopes"`
	}
	switch {
	case err != nil && client.TimedOut(err): // it may have been counted
		return x, fmt.Errorf("token of %s: %w", p.PlaceID, err)
	case err != nil: // nobody counted it, so the next request may try again
		return x, fmt.Errorf("token of %s: %w: %w", p.PlaceID, client.ErrUnreachable, err)
	case a.status == http.StatusServiceUnavailable:
		return x, fmt.Errorf("token of %s: %w: %d %s", p.PlaceID, client.ErrUnavailable, a.status, a.code)
	case a.status == http.StatusTooManyRequests:
		return x, fmt.Errorf("token of %s: %d %s: %w", p.PlaceID, a.status, a.code, &client.Limited{After: client.RetryAfter(a.header.Get("Retry-After"))})
	case a.status == http.StatusUnauthorized:
		return x, fmt.Errorf("%w of %s: %d %s", ErrKey, p.PlaceID, a.status, a.code)
	case a.status != http.StatusOK:
		return x, fmt.Errorf("token of %s: %d %s", p.PlaceID, a.status, a.code)
	case json.Unmarshal(a.data, &data) != nil || data.AccessToken == "" || data.ExpiresIn <= 0:
		return x, fmt.Errorf("token of %s: the answer to the exchange of its key isn't a token result", cmp.Or(p.PlaceID, "a place without an id"))
	}
	p.scopes = data.Scopes
	return client.Exchanged{Token: data.AccessToken, Life: time.Duration(data.ExpiresIn) * time.Second}, nil
}

// doors lists every door of the place. Errors: also ErrKey, ErrScope.
func (p *place) doors(ctx context.Context) ([]door, error) {
	var found []door
	for offset := 0; ; {
		token, err := p.token.Bearer(ctx)
		if err != nil {
			return nil, err
		}
		query := url.Values{"limit": {"500"}, "offset": {strconv.Itoa(offset)}}
		a, err := p.api.call(ctx, p.source, request{method: http.MethodGet, route: "/device/v1/devices", path: "/device/v1/devices",
			query: query.Encode(), place: p.PlaceID, token: token, from: p.from})
		if err != nil {
			return nil, fmt.Errorf("doors of %s: %w", p.PlaceID, err)
		}
		if a.status == http.StatusForbidden {
			return nil, fmt.Errorf("%w: it lists doors, which needs the scope device:door; the key of %s has %s", ErrScope, p.PlaceID, strings.Join(p.scopes, ", "))
		}
		var rows []struct {
			ID   string `json:"id"`
			Kind string `json:"kind"`
		}
		if a.status != http.StatusOK || json.Unmarshal(a.data, &rows) != nil {
			return nil, fmt.Errorf("doors of %s: %d %s", p.PlaceID, a.status, a.code)
		}
		for _, r := range rows {
			if r.Kind == "door" {
				found = append(found, door{r.ID, p})
			}
		}
		if offset += len(rows); len(rows) == 0 || offset >= a.total {
			return found, nil
		}
	}
}
