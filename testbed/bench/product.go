package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/testbed"
)

// places of a fleet: together with the one for lists they stay below the exchanges that one address may make per
// minute.
const places = 25

// product is the whole server with its boards.
type product struct {
	tb     *testbed.Testbed
	dir    string
	places []benchPlace
	each   int // boards of a place
}

type benchPlace struct {
	id     string
	doors  []string
	header http.Header
}

// startProduct starts a world of places.
func startProduct(ctx context.Context, c setup) (*product, error) {
	return startPlaces(ctx, c, (c.boards+places-1)/places)
}

// startPlaces starts a world whose boards answer immediately, each of them at a place; its last place has ten doors.
func startPlaces(ctx context.Context, c setup, each int) (*product, error) {
	return startWorld(ctx, c, each, nil)
}

// startWorld is startPlaces with a database that fill has prepared while the server was stopped.
func startWorld(ctx context.Context, c setup, each int, fill func(dir string, at []benchPlace) error) (_ *product, err error) {
	week := access.Week{}
	for _, d := range []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"} {
		week[d] = [][2]string{{"00:00", "24:00"}}
	}
	atOnce := &world.Report{P50: time.Nanosecond, P99: time.Nanosecond}
	w := &world.World{Seed: 1}
	add := func(boards, doors int) {
		w.Places = append(w.Places, world.Place{Name: "Place " + strconv.Itoa(len(w.Places)+1), Kind: world.Live, Hours: week,
			Fleet: &world.Fleet{Boards: boards, DoorsPerBoard: doors, Report: atOnce},
			Keys:  []world.Key{{Name: "default", Scopes: []string{"space:partner", "device:door"}}}})
	}
	p := &product{each: each}
	for left := c.boards; left > 0; left -= p.each {
		add(min(left, p.each), 1)
	}
	add(5, 2)
	if err := w.Resolve(); err != nil {
		return nil, err
	}
	if p.dir, err = os.MkdirTemp("", "doorlab-bench"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = p.stop()
		}
	}()
	for _, of := range w.Places {
		at := benchPlace{id: of.ID}
		for _, b := range of.Boards {
			for _, d := range b.Doors {
				at.doors = append(at.doors, d.ID)
			}
		}
		p.places = append(p.places, at)
	}
	config := testbed.Config{World: w, DataDir: p.dir, Link: c.link, Client: c.client, OnDemand: true, Seeded: true, Control: "127.0.0.1:0"}
	if fill != nil {
		empty, err := testbed.Start(ctx, config)
		if err != nil {
			return nil, err
		}
		if err := errors.Join(empty.Stop(), fill(p.dir, p.places)); err != nil {
			return nil, err
		}
	}
	config.Fleet = true
	if p.tb, err = testbed.Start(ctx, config); err != nil {
		return nil, err
	}
	for i, ready := range p.tb.Ready.Places {
		token, _, err := client.Client{Base: p.tb.Ready.HTTP}.Exchange(ctx, *ready.APIKey)
		if err != nil {
			return nil, err
		}
		p.places[i].header = http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}}
	}
	return p, p.settle(ctx, c)
}

// settle opens each door once. Until the next packet arrives, paho holds the last one a board received, and the first
// is its place's whole content, so memory use would be that of a start. Any answer will do.
func (p *product) settle(ctx context.Context, c setup) error {
	return side(c.boards, func(on *http.Client, n int) error {
		at, door := p.door(n)
		_, err := p.send(ctx, on, at, door, nextID())
		return err
	})
}

// side makes n calls, 64 at a time.
func side(n int, call func(on *http.Client, i int) error) error {
	callers := newCallers(64)
	errs := make([]error, len(callers))
	var wg sync.WaitGroup
	for k := range callers {
		wg.Go(func() {
			for i := k; i < n && errs[k] == nil; i += len(callers) {
				errs[k] = call(callers[k].http, i)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (p *product) stop() (err error) {
	if p.tb != nil {
		err = p.tb.Stop()
	}
	if e := os.RemoveAll(p.dir); err == nil {
		err = e
	}
	return err
}

// commits is how many the metrics page counts.
func (p *product) commits() int64 { return int64(p.metric("doorlab_store_commit_seconds_count")) }

// door is the n-th door of the fleet.
func (p *product) door(n int) (benchPlace, string) {
	at := p.places[n/p.each]
	return at, at.doors[n%len(at.doors)]
}

var serial atomic.Int64

// nextID is a new, unique id.
func nextID() string { return fmt.Sprintf("%d-%d", os.Getpid(), serial.Add(1)) }

func (p *product) subject(callers int, call func(ctx context.Context, on *http.Client, caller, n int) error) *subject {
	each := newCallers(callers)
	return &subject{commits: p.commits, stop: p.stop, call: func(ctx context.Context, caller, n int) error { return call(ctx, each[caller].http, caller, n) }}
}

var openDoor = []byte(`{"capability":"door","command":"open"}`)

// commands are full door commands, a new key each time.
func (p *product) commands(c setup) *subject {
	return p.subject(c.callers, func(ctx context.Context, on *http.Client, caller, n int) error {
		at, door := p.door((caller*7919 + n) % c.boards)
		return p.open(ctx, on, at, door, nextID())
	})
}

// replays repeat a command that has its answer.
func (p *product) replays(c setup) *subject {
	return p.subject(c.callers, func(ctx context.Context, on *http.Client, caller, _ int) error {
		at, door := p.door(caller % c.boards)
		return p.open(ctx, on, at, door, "replay-"+strconv.Itoa(caller))
	})
}

func (p *product) open(ctx context.Context, on *http.Client, at benchPlace, door, key string) error {
	return expect200(p.send(ctx, on, at, door, key))
}

func (p *product) send(ctx context.Context, on *http.Client, at benchPlace, door, key string) (*client.Answer, error) {
	h := at.header.Clone()
	h.Set("Idempotency-Key", key)
	return client.Send(ctx, on, http.MethodPost, p.tb.Ready.HTTP+"/device/v1/devices/"+door+"/commands", h, openDoor)
}

// lists list a place with ten doors.
func (p *product) lists(c setup) *subject {
	at := p.places[len(p.places)-1]
	return p.subject(c.callers, func(ctx context.Context, on *http.Client, _, _ int) error {
		return expect200(client.Send(ctx, on, http.MethodGet, p.tb.Ready.HTTP+"/device/v1/devices", at.header.Clone(), nil))
	})
}

// permits are registered all over the fleet.
func (p *product) permits(c setup) *subject {
	return p.subject(c.callers, func(ctx context.Context, on *http.Client, caller, _ int) error {
		return p.permit(ctx, on, p.places[caller%(len(p.places)-1)])
	})
}

// imports are of customers, a new file each time, one file at a time.
func (p *product) imports(c setup) *subject {
	s := p.subject(1, func(ctx context.Context, on *http.Client, _, n int) error {
		file := nextID()
		var body strings.Builder
		fmt.Fprintf(&body, `{"source":"bench","items":[`)
		for i := range c.rows {
			if i > 0 {
				body.WriteByte(',')
			}
			fmt.Fprintf(&body, `{"externalRef":"%s-%d","phone":"010%08d","name":"Guest %d"}`, file, i, i, i)
		}
		body.WriteString("]}")
		at := p.places[n%(len(p.places)-1)]
		a, err := client.Send(ctx, on, http.MethodPost, p.tb.Ready.HTTP+"/space/v1/customers/import", at.header.Clone(), []byte(body.String()))
		if err == nil && a.Status == http.StatusOK && !strings.Contains(string(a.Body), fmt.Sprintf(`"created":%d`, c.rows)) {
			return fmt.Errorf("not all rows of the file were imported: %.300s", a.Body)
		}
		return expect200(a, err)
	})
	s.alone = true
	return s
}
