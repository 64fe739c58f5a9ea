package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"

	"github.com/doorlab/doorlab/internal/client"
)

// subjects by name: three floors, then the product.
var subjects = map[string]func(context.Context, setup) (*subject, error){
	"http": startHTTP, "relay": startRelay, "durable": startDurable,
	"command": of(startProduct, (*product).commands), "replay": of(startProduct, (*product).replays), "list": of(startProduct, (*product).lists),
	"permit": of(startProduct, (*product).permits), "import": of(startProduct, (*product).imports), "spread": startSpread,
	"storm": of(startProduct, (*product).storm), "stored": of(startFull, (*product).commands), "browse": of(startFull, (*product).browse),
}

// of starts a product and makes a subject of it.
func of(start func(context.Context, setup) (*product, error), subjectOf func(*product, setup) *subject) func(context.Context, setup) (*subject, error) {
	return func(ctx context.Context, c setup) (*subject, error) {
		p, err := start(ctx, c)
		if err != nil {
			return nil, err
		}
		return subjectOf(p, c), nil
	}
}

// names are the subjects in the order in which they take turns.
func names() []string {
	return []string{"http", "relay", "durable", "command", "replay", "list", "permit", "import", "spread", "storm"}
}

// onDemand are subjects that take minutes to start.
var onDemand = []string{"stored", "browse"}

// caller is one client; all share a pool with a connection for each.
type caller struct{ http *http.Client }

func newCallers(n int) []caller {
	return slices.Repeat([]caller{{&http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: n, MaxConnsPerHost: n}}}}, n)
}

func (c caller) post(ctx context.Context, url string, h http.Header, body []byte) error {
	return expect200(client.Send(ctx, c.http, http.MethodPost, url, h, body))
}

// expect200 fails for anything but a success: refusals are cheaper and would make for flattering figures.
func expect200(a *client.Answer, err error) error {
	if err != nil {
		return err
	}
	if a.Status != http.StatusOK {
		return fmt.Errorf("status %d, want 200: %.300s", a.Status, a.Body)
	}
	return nil
}

// startHTTP is a handler that answers at once.
func startHTTP(_ context.Context, c setup) (*subject, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	web := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"success":true}`))
	})}
	go func() { _ = web.Serve(l) }()
	callers := newCallers(c.callers)
	return &subject{stop: web.Close, call: func(ctx context.Context, i, _ int) error {
		return callers[i].post(ctx, "http://"+l.Addr().String()+"/", http.Header{}, openDoor)
	}}, nil
}
