package loadtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
)

// ErrNoDoors means that the places that the plan wants have no doors.
var ErrNoDoors = errors.New("no doors to command")

const tokenPath = "/core/v1/auth/apikey/token"

// place holds one place's token, so that 30 exchanges a minute suffice for
// any rate [AUTH-3]. A token is renewed in the background in the last third
// of its life, in domain time, and at once when the server says 401.
type place struct {
	Place
	api    *api
	source http.RoundTripper // from the place's own address

	mu       sync.Mutex
	token    string
	got      time.Time // domain time
	life     time.Duration
	renewing bool
	retry    time.Duration // clock.Mono before which no exchange is tried again
	failure  error         // of the last exchange
	patient  bool          // waits when the exchange limit is reached: before the run only
}

// bearer is a token that is good for a command sent now.
func (p *place) bearer(ctx context.Context) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	age := p.api.now().Sub(p.got)
	switch {
	case p.token == "" || age < 0 || age >= p.life-time.Second: // [AUTH-2]
		return p.exchange(ctx)
	case age > p.life*2/3 && !p.renewing && (p.failure == nil || clock.Mono() >= p.retry):
		p.renewing = true
		go p.renewAhead(context.WithoutCancel(ctx), p.token)
	}
	return p.token, nil
}

func (p *place) renewAhead(ctx context.Context, old string) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	token, life, got, err := p.ask(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.renewing = false
	if p.settle(err) && p.token == old {
		p.token, p.life, p.got = token, life, got
	}
}

// settle notes how an exchange went; it needs mu.
func (p *place) settle(err error) bool {
	if p.failure = err; err != nil {
		p.retry = clock.Mono() + 2*time.Second
	}
	return err == nil
}

// refused replaces a token that the server refused; whoever comes second gets the new one.
func (p *place) refused(ctx context.Context, old string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.token != old {
		return p.token, nil
	}
	return p.exchange(ctx)
}

// exchange needs mu. After a failure it answers the same for two seconds: a
// dead key must not use up the exchange limit.
func (p *place) exchange(ctx context.Context) (string, error) {
	if p.failure != nil && clock.Mono() < p.retry {
		return "", p.failure
	}
	token, life, got, err := p.ask(ctx)
	if p.settle(err) {
		p.token, p.life, p.got = token, life, got
	}
	return token, err
}

func (p *place) ask(ctx context.Context) (token string, life time.Duration, got time.Time, err error) {
	got = p.api.now() // before the call: never younger than the server thinks
	body, _ := json.Marshal(map[string]string{"key": p.APIKey})
	var data struct {
		AccessToken string `json:"accessToken"`
		ExpiresIn   int    `json:"expiresIn"`
	}
	for {
		a, err := p.api.call(ctx, p.source, request{method: http.MethodPost, route: tokenPath, path: tokenPath, place: p.PlaceID, body: body})
		if err != nil {
			return "", 0, got, fmt.Errorf("token of %s: %w", p.PlaceID, err)
		}
		if a.status == http.StatusTooManyRequests && p.patient {
			if err := pause(ctx, a.retryAfter()); err != nil {
				return "", 0, got, fmt.Errorf("token of %s: exchange limit: %w", p.PlaceID, err)
			}
			got = p.api.now()
			continue
		}
		if a.status != http.StatusOK {
			return "", 0, got, fmt.Errorf("token of %s: %d %s", p.PlaceID, a.status, a.code)
		}
		if err := json.Unmarshal(a.data, &data); err != nil || data.AccessToken == "" || data.ExpiresIn <= 0 {
			return "", 0, got, fmt.Errorf("token of %s: not a token result", p.PlaceID)
		}
		return data.AccessToken, time.Duration(data.ExpiresIn) * time.Second, got, nil
	}
}

// doors lists every door of the place.
func (p *place) doors(ctx context.Context) ([]door, error) {
	var found []door
	for offset := 0; ; {
		token, err := p.bearer(ctx)
		if err != nil {
			return nil, err
		}
		query := url.Values{"limit": {"500"}, "offset": {strconv.Itoa(offset)}}
		a, err := p.api.call(ctx, p.source, request{method: http.MethodGet, route: "/device/v1/devices", path: "/device/v1/devices",
			query: query.Encode(), place: p.PlaceID, token: token})
		if err != nil {
			return nil, fmt.Errorf("doors of %s: %w", p.PlaceID, err)
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

// pause waits on the wall clock.
func pause(ctx context.Context, d time.Duration) error {
	woken := make(chan struct{})
	t := clock.WallAfter(d, func() { close(woken) })
	defer t.Stop()
	select {
	case <-woken:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
