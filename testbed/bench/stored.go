package main

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/id"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/server/record"
	"github.com/doorlab/doorlab/server/store"
)

// startFull starts a world that has been in use: c.records and c.permits are stored.
func startFull(ctx context.Context, c setup) (_ *product, err error) {
	p, err := startWorld(ctx, c, (c.boards+places-1)/places, func(dir string, at []benchPlace) error { return keepRecords(dir, at, c.records) })
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = p.stop()
		}
	}()
	err = side(c.permits, func(on *http.Client, n int) error { return p.permit(ctx, on, p.places[n%(len(p.places)-1)]) })
	if err != nil {
		return nil, err
	}
	return p, p.until(ctx, func() bool { return p.metric("doorlab_boards_behind") == 0 })
}

// keepRecords fills the database of a stopped server with the records of a year's commands.
func keepRecords(dir string, at []benchPlace, n int) error {
	st, err := store.Open(dir, store.Options{})
	if err != nil {
		return err
	}
	const year, some = 365 * 24 * time.Hour, 5000
	for from := 0; err == nil && from < n; from += some {
		err = st.KeepRecords(func(tx record.Tx, now time.Time) error {
			for i := from; i < min(from+some, n); i++ {
				place, then := &at[i%(len(at)-1)], now.Add(-year+year/time.Duration(n)*time.Duration(i))
				r := record.Record{ID: id.New(id.Record, then), PlaceID: place.id, DoorID: place.doors[i%len(place.doors)], DoorName: "Door", Result: vocab.Opened,
					Reason: "api", Method: vocab.API, Actor: "api:key", ActorLabel: "default", CommandID: id.New(id.Command, then), Source: record.FromServer,
					RequestedAt: then, OccurredAt: then, RecordedAt: then}
				if _, err := tx.InsertRecord(r); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return errors.Join(err, st.Close())
}

// browse reads lists of permits, records and devices in turn, 200 a second, while 2,000 commands
// a second go on.
func (p *product) browse(c setup) *subject {
	paths := []string{"/space/v1/partner/entry-permits", "/space/v1/partner/entry-logs", "/device/v1/devices", "/space/v1/partner/entry-permits?limit=100&offset=100"}
	s := p.subject(c.callers, func(ctx context.Context, on *http.Client, caller, n int) error {
		at := p.places[(caller+n)%(len(p.places)-1)]
		return expect200(client.Send(ctx, on, http.MethodGet, p.tb.Ready.HTTP+paths[(caller+n)%len(paths)], at.header.Clone(), nil))
	})
	s.rate = 200
	s.beside = p.commands(c)
	s.beside.rate, s.beside.stop = 2000, nil
	return s
}

// due waits for the time of a caller's n-th call if there is a rate to keep; the call is measured from that time,
// however late it starts. ok is false if the turn is over by then. How many calls a rate asks for doesn't depend on the machine;
// without one every caller makes at least one call, even if it starts after the turn's end, because a turn without calls
// has no figures.
func (s *subject) due(ctx context.Context, callers, caller, n int, wall, end time.Duration) (at time.Duration, ok bool) {
	if s.rate == 0 {
		at = clock.Mono()
		return at, n == 0 || at < end
	}
	at = wall + time.Duration(n*callers+caller)*time.Second/time.Duration(s.rate)
	if at >= end {
		return at, false
	}
	if wait := at - clock.Mono(); wait > 0 && client.Pause(ctx, wait) != nil {
		return at, false
	}
	return at, true
}

// both runs a turn of a subject and of what goes on beside it.
func (s *subject) both(ctx context.Context, callers int, d time.Duration) (own, beside result, err error) {
	var wg sync.WaitGroup
	var other error
	wg.Go(func() { beside, other = s.beside.turn(ctx, callers, d) })
	own, err = s.turn(ctx, callers, d)
	wg.Wait()
	return own, beside, errors.Join(err, other)
}
