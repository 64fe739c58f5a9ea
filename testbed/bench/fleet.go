package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/control"
)

// startSpread changes a permit and waits until every board of its place has applied it; all boards belong to one place.
func startSpread(ctx context.Context, c setup) (*subject, error) {
	p, err := startPlaces(ctx, c, c.boards)
	if err != nil {
		return nil, err
	}
	s := p.subject(1, func(ctx context.Context, on *http.Client, _, _ int) error {
		if err := p.permit(ctx, on, p.places[0]); err != nil {
			return err
		}
		return p.until(ctx, func() bool { return p.metric("doorlab_boards_behind") == 0 })
	})
	s.alone = true
	return s, nil
}

// storm cuts every board at once, meanwhile changes a permit at every place, and waits until all boards are back
// and have applied it.
func (p *product) storm(setup) *subject {
	all := p.tb.Boards()
	s := p.subject(1, func(ctx context.Context, on *http.Client, _, _ int) error {
		if err := p.lab(ctx, on, http.MethodPost, "/faults", `{"fault":"offline","share":1}`); err != nil {
			return err
		}
		if err := p.until(ctx, func() bool { return p.metric("doorlab_boards_online") == 0 }); err != nil {
			return err
		}
		for _, at := range p.places {
			if err := p.permit(ctx, on, at); err != nil {
				return err
			}
		}
		if err := p.lab(ctx, on, http.MethodPost, "/faults/reset", `{}`); err != nil {
			return err
		}
		return p.until(ctx, func() bool {
			return p.metric("doorlab_boards_online") == float64(all) && p.metric("doorlab_boards_behind") == 0
		})
	})
	s.alone = true
	return s
}

// permit registers a permit for an hour, a new reference and another person each time.
func (p *product) permit(ctx context.Context, on *http.Client, at benchPlace) error {
	from := clock.WallNow().UTC().Truncate(time.Second)
	body := fmt.Sprintf(`{"externalRef":%q,"phone":"010%08d","doorIds":[%q],"startsAt":%q,"endsAt":%q}`, nextID(), serial.Add(1), at.doors[0],
		from.Format(time.RFC3339), from.Add(time.Hour).Format(time.RFC3339))
	return expect200(client.Send(ctx, on, http.MethodPost, p.tb.Ready.HTTP+"/space/v1/partner/entry-permits", at.header.Clone(), []byte(body)))
}

// lab calls the control API.
func (p *product) lab(ctx context.Context, on *http.Client, method, path, body string) error {
	return client.Client{Base: p.tb.Ready.Control, Token: p.tb.Ready.ControlToken, HTTP: on}.Do(ctx, method, control.Prefix+path, []byte(body), nil)
}

// lookEvery is how often until polls: each time it reads a page of metrics, which takes a few milliseconds.
const lookEvery = 20 * time.Millisecond

// until returns when the condition holds.
func (p *product) until(ctx context.Context, so func() bool) error {
	for !so() {
		if err := client.Pause(ctx, lookEvery); err != nil {
			return fmt.Errorf("not within the turn: %w", err)
		}
	}
	return nil
}

// metric reads a value of the metrics page; -1 when it can't be read.
func (p *product) metric(name string) float64 {
	a, err := client.Send(context.Background(), http.DefaultClient, http.MethodGet, p.tb.Ready.Control+"/metrics", nil, nil)
	if err != nil {
		return -1
	}
	_, rest, found := strings.Cut(string(a.Body), "\n"+name+" ")
	var v float64
	if line, _, _ := strings.Cut(rest, "\n"); found {
		if _, err := fmt.Sscan(line, &v); err == nil {
			return v
		}
	}
	return -1
}
