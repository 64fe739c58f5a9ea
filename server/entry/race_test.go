package entry_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/command"
	"github.com/doorlab/doorlab/server/entry"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/place"
	"github.com/doorlab/doorlab/server/record"
	"github.com/doorlab/doorlab/server/store"
	"github.com/doorlab/doorlab/server/store/storetest"
)

// line is a board that reports immediately. It also checks what is sent: it knows for which grants a revocation has
// already been answered.
type line struct {
	service *command.Service
	dead    sync.Map // grant id -> a revocation has been answered
	sent    atomic.Int64
	late    atomic.Int64
}

func (l *line) Send(_ context.Context, boardID string, c wire.Command) error {
	if _, dead := l.dead.Load(c.GrantID); dead {
		l.late.Add(1)
	}
	l.sent.Add(1)
	go l.service.Report(boardID, wire.Report{CommandID: c.ID, Result: vocab.OK}, func(bool) {})
	return nil
}

// newRealHouse is a house with the real command service; only the board is fake.
func newRealHouse(t testing.TB, trace func(command.Point, *command.Trail)) (*house, *line) {
	h := &house{House: storetest.New(t), t: t}
	l := &line{}
	l.service = command.New(command.Config{Ledger: h.Commands(), Sender: l, Clock: h.Clock, Trace: trace})
	t.Cleanup(l.service.Stop)
	h.grants = grant.New(grant.Config{Clock: h.Clock, Store: h.Store, Secret: []byte("s"), Openings: &h.openings})
	h.places = place.New(place.Config{Clock: h.Clock, Store: h.Store, Openings: &h.openings})
	h.Service = entry.New(entry.Config{Clock: h.Clock, Store: h.Store, Device: l.service, Openings: &h.openings})
	return h, l
}

// TestRevokeRacesOpen: at least 10,000 times, a link is pressed or a phone calls while the permit is being revoked.
// Either may come first, but nothing is sent to a board after the revocation has been answered [PERM-4] [ENT-3].
func TestRevokeRacesOpen(t *testing.T) {
	t.Parallel()
	h, l := newRealHouse(t, nil)
	people, rounds := 100, 100
	if underRace { // five times slower there
		people = 10
	}
	const least = 10 // of each outcome, otherwise it wasn't a race
	var refused, tried atomic.Int64
	undecided := func() bool { return l.sent.Load() < least || refused.Load() < least }
	var wg sync.WaitGroup
	for i := range people {
		wg.Go(func() {
			ref := fmt.Sprint("r", i)
			for round := 0; round < rounds || round < 10*rounds && undecided(); round++ {
				tried.Add(1)
				phone := fmt.Sprintf("010%04d%04d", 7000+i, round) // one number opens once per 3 s
				p, err := h.grants.Register(byA, grant.RegisterRequest{ExternalRef: &ref, Phone: &phone, StartsAt: new(epoch.Add(-time.Hour)), EndsAt: new(epoch.Add(40 * time.Hour))})
				if err != nil {
					t.Error(err)
					return
				}
				l.dead.Delete(p.ID)
				var both sync.WaitGroup
				both.Go(func() {
					if round%4 > 1 {
						_ = h.Ping() // takes about as long as a revocation
					}
					if !h.tries(p.Token, phone, round%2 == 0) {
						refused.Add(1)
					}
				})
				if _, err := h.grants.Revoke(byA, grant.RevokeRequest{ExternalRef: &ref}); err != nil {
					t.Error(err)
				}
				l.dead.Store(p.ID, true)
				both.Wait()
			}
		})
	}
	wg.Wait()
	t.Logf("%d sent, %d refused", l.sent.Load(), refused.Load())
	if l.late.Load() > 0 || l.sent.Load()+refused.Load() != tried.Load() {
		t.Errorf("%d of %d sent after the revocation's answer, %d refused; want none sent late, and the rest refused", l.late.Load(), l.sent.Load(), refused.Load())
	}
	if undecided() {
		t.Errorf("no race: %d sent, %d refused, want %d or more of each", l.sent.Load(), refused.Load(), least)
	}
}

// tries reports whether a press or a call opened.
func (h *house) tries(token, phone string, link bool) bool {
	if link {
		got, err := h.Open(ctx, token, "dor_1")
		return err == nil && got.Result == "opened"
	}
	got, err := h.Call(ctx, number, phone)
	return err == nil && got.Result == "opened"
}

// between does something after a link or the place of a number was read and before anything else happens.
type between struct {
	*store.Store
	do func()
}

func (b *between) once() {
	if do := b.do; do != nil {
		b.do = nil
		do()
	}
}

func (b *between) GrantByLink(hash string) (grant.Grant, error) {
	g, err := b.Store.GrantByLink(hash)
	b.once()
	return g, err
}

func (b *between) PlaceByPhone(number string) (place.Place, error) {
	p, err := b.Store.PlaceByPhone(number)
	b.once()
	return p, err
}

// TestRevokedWhileRead: a link that is revoked right after it was read opens nothing, not even for a member or in a
// free window. If the link passes to another person at that moment, it opens for that person.
func TestRevokedWhileRead(t *testing.T) {
	t.Parallel()
	revoke := func(h *house) { h.revoke("r") }
	for name, tt := range map[string]struct {
		set, do func(h *house)
		code    string
	}{
		"member":      {func(h *house) { h.membership() }, revoke, fail.LinkInvalid},
		"free window": {func(h *house) { h.window("dor_1", "free") }, revoke, fail.LinkInvalid},
		"renewed":     {func(*house) {}, func(h *house) { h.revoke("r"); h.permit("r", 2) }, fail.LinkInvalid},
		"another phone": {func(*house) {}, func(h *house) {
			_, err := h.grants.Register(byA, grant.RegisterRequest{ExternalRef: new("r"), Phone: new("01099998888"), StartsAt: &epoch, EndsAt: new(epoch.Add(time.Hour))})
			h.ok(err)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			b := &between{Store: h.Store}
			h.Service = entry.New(entry.Config{Clock: h.Clock, Store: b, Device: h.door, Openings: &h.openings})
			p := h.permit("r", 1)
			tt.set(h)
			b.do = func() { tt.do(h) }
			if _, err := h.Open(ctx, p.Token, "dor_1"); fail.CodeOf(err) != tt.code {
				t.Errorf("got %v, want code %q", err, tt.code)
			}
			if tt.code == "" != (len(h.door.asks) == 1) {
				t.Errorf("%d commands, want one exactly if it opened (%t)", len(h.door.asks), tt.code == "")
			}
		})
	}
}

// TestRevokeWaitsForOpening stops an opening between its commit and the send. Whatever revokes the right must be
// answered only after the send.
func TestRevokeWaitsForOpening(t *testing.T) {
	t.Parallel()
	closed := func(h *house) error {
		_, err := h.places.SetPolicy(record.By{PlaceID: "plc_a"}, "dor_1", place.PolicyRequest{Ref: new("always"), Mode: new("closed")})
		return err
	}
	revoke := func(h *house) error {
		_, err := h.grants.Revoke(byA, grant.RevokeRequest{ExternalRef: new("r")})
		return err
	}
	for name, change := range map[string]func(h *house) error{
		"revoke": revoke,
		"a repeated revoke": func(h *house) error {
			go func() { _ = revoke(h) }()
			return revoke(h)
		},
		"re-register for another door": func(h *house) error {
			_, err := h.grants.Register(byA, grant.RegisterRequest{ExternalRef: new("r"), Phone: new(kim), StartsAt: &epoch, EndsAt: new(epoch.Add(time.Hour)), DoorIDs: []string{"dor_in"}})
			return err
		},
		"closed window": closed,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begun, gate := make(chan struct{}), make(chan struct{})
			h, l := newRealHouse(t, func(at command.Point, _ *command.Trail) {
				if at == command.BeforePublish {
					close(begun)
					<-gate
				}
			})
			p := h.permit("r", 1)
			revision := make(chan struct{}, 8)
			h.OnRevision(func(string, int64) { revision <- struct{}{} })
			var wg sync.WaitGroup
			wg.Go(func() { _, _ = h.Open(ctx, p.Token, "dor_1") })
			<-begun
			wg.Go(func() { _, _ = h.Open(ctx, p.Token, "dor_1") }) // a caller who joins delays nobody
			wg.Go(func() {
				h.ok(change(h))
				if l.sent.Load() != 1 {
					t.Errorf("answered before the send")
				}
			})
			<-revision
			h.ok(h.Ping()) // by now it would have been answered
			for range 100 {
				runtime.Gosched()
			}
			close(gate)
			wg.Wait()
		})
	}
}
