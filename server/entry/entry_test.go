package entry_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/doorlab/doorlab/internal/id"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/server/command"
	"github.com/doorlab/doorlab/server/entry"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/place"
	"github.com/doorlab/doorlab/server/record"
	"github.com/doorlab/doorlab/server/store"
	"github.com/doorlab/doorlab/server/store/storetest"
)

var (
	ctx   = context.Background()
	epoch = storetest.Epoch
	byA   = record.By{PlaceID: "plc_a", KeyID: "key_a"}
)

var _ entry.Store = (*store.Store)(nil)

const (
	number = "05011112222"
	kim    = "01012345678"
)

// door stands in for server/command: it answers with outcome and writes the record.
type door struct {
	h       *house
	outcome vocab.Outcome
	err     error
	sends   bool          // calls Sent before it answers
	gate    chan struct{} // nil = answers immediately
	begun   chan struct{} // signalled when one begins; nil = nobody listens

	mu   sync.Mutex
	asks []command.Request
}

func (d *door) Execute(_ context.Context, r command.Request) (command.Answer, error) {
	d.mu.Lock()
	d.asks = append(d.asks, r)
	d.mu.Unlock()
	if d.gate != nil {
		select {
		case d.begun <- struct{}{}:
		default:
		}
		<-d.gate
	}
	if d.sends {
		r.Sent()
	}
	if d.err != nil {
		return command.Answer{}, d.err
	}
	now := d.h.Clock.Now()
	res := command.Result{CommandID: id.New(id.Command, now), DoorID: r.DoorID, Command: r.Command, Outcome: d.outcome, RequestedAt: now}
	in := command.Intent{CommandID: res.CommandID, Order: r.Order, Meaning: r.Press, RequestedAt: now, AgedAt: now}
	if _, err := d.h.Commands().Claim(in, now); err != nil {
		return command.Answer{}, err
	}
	return command.Answer{Result: res}, d.h.Commands().Settle(command.Settlement{Intent: in, Outcome: d.outcome})
}

type house struct {
	*storetest.House
	*entry.Service
	grants   *grant.Service
	places   *place.Service
	door     *door
	openings place.Openings
	t        testing.TB
}

func newHouse(t testing.TB) *house {
	h := &house{House: storetest.New(t), t: t}
	h.door = &door{h: h, outcome: vocab.Reported}
	h.grants = grant.New(grant.Config{Clock: h.Clock, Store: h.Store, Secret: []byte("s"), Openings: &h.openings})
	h.places = place.New(place.Config{Clock: h.Clock, Store: h.Store, Openings: &h.openings})
	h.restart()
	return h
}

// restart begins a new run of the service on the same store.
func (h *house) restart() {
	h.Service = entry.New(entry.Config{Clock: h.Clock, Store: h.Store, Device: h.door, Openings: &h.openings, Wait: 8 * time.Second})
}

func (h *house) ok(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// permit registers a permit for Kim that starts at epoch.
func (h *house) permit(ref string, hours int, doors ...string) grant.Permit {
	h.t.Helper()
	p, err := h.grants.Register(byA, grant.RegisterRequest{ExternalRef: &ref, Phone: new(kim), StartsAt: &epoch,
		EndsAt: new(epoch.Add(time.Duration(hours) * time.Hour)), DoorIDs: doors})
	h.ok(err)
	return p
}

// tomorrow registers a permit for Kim that starts in a day.
func (h *house) tomorrow(door string) {
	h.t.Helper()
	from := epoch.Add(24 * time.Hour)
	_, err := h.grants.Register(byA, grant.RegisterRequest{ExternalRef: new("tomorrow"), Phone: new(kim), StartsAt: &from, EndsAt: new(from.Add(time.Hour)), DoorIDs: []string{door}})
	h.ok(err)
}

func (h *house) revoke(ref string) {
	h.t.Helper()
	_, err := h.grants.Revoke(byA, grant.RevokeRequest{ExternalRef: &ref})
	h.ok(err)
}

func (h *house) membership() grant.Term {
	h.t.Helper()
	m, err := h.grants.CreateTerm(byA, grant.Membership, grant.TermRequest{Phone: new(kim), StartsAt: &epoch})
	h.ok(err)
	return m
}

func (h *house) window(doorID, mode string) {
	h.t.Helper()
	_, err := h.places.SetPolicy(record.By{PlaceID: "plc_a"}, doorID, place.PolicyRequest{Ref: new("always"), Mode: &mode})
	h.ok(err)
}

// last returns the newest record and the number of records.
func (h *house) last() (record.Record, int) {
	h.t.Helper()
	rs, total, err := h.Store.Records("plc_a", epoch.Add(-time.Hour), 1, 0)
	h.ok(err)
	if total == 0 {
		return record.Record{}, 0
	}
	return rs[0], total
}

func answered(result vocab.Result, reason vocab.Reason, door string) entry.CallResult {
	return entry.CallResult{Answered: true, Result: result, Reason: reason, DoorID: door}
}

func TestCall(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		set    func(h *house)
		to     string
		from   string
		want   entry.CallResult
		actor  string // in the record; "" = no record
		grants bool   // the record credits a grant
	}{
		"permit":            {func(h *house) { h.permit("r", 1) }, number, kim, answered("opened", "phone", "dor_1"), "guest:*5678", true},
		"written otherwise": {func(h *house) { h.permit("r", 1) }, "050-1111-2222", "+82 10-1234-5678", answered("opened", "phone", "dor_1"), "guest:*5678", true},
		"abroad": {func(h *house) {
			_, err := h.grants.Register(byA, grant.RegisterRequest{ExternalRef: new("r"), Phone: new("15551234567"), StartsAt: &epoch, EndsAt: new(epoch.Add(time.Hour))})
			h.ok(err)
		}, number, "+1 555 123 4567", answered("denied", "no_valid_grant", ""), "guest:*4567", false},
		"first door in scope":        {func(h *house) { h.permit("r", 1, "dor_in", "dor_2") }, number, kim, answered("opened", "phone", "dor_2"), "guest:*5678", true},
		"no entry door":              {func(h *house) { h.permit("r", 1, "dor_in") }, number, kim, answered("denied", "door_out_of_scope", ""), "guest:*5678", false},
		"stranger":                   {func(h *house) {}, number, "01099990000", answered("denied", "no_valid_grant", ""), "guest:*0000", false},
		"hidden":                     {func(h *house) {}, number, "", answered("denied", "no_valid_grant", ""), "guest:*----", false},
		"expired":                    {func(h *house) { h.permit("r", 1, "dor_2"); h.Pass(time.Hour) }, number, kim, answered("denied", "expired", "dor_2"), "guest:*5678", false},
		"last moment":                {func(h *house) { h.permit("r", 1, "dor_2"); h.Pass(time.Hour - time.Millisecond) }, number, kim, answered("opened", "phone", "dor_2"), "guest:*5678", true},
		"revoked":                    {func(h *house) { h.permit("r", 1); h.revoke("r") }, number, kim, answered("denied", "revoked", "dor_1"), "guest:*5678", false},
		"revoked but a member":       {func(h *house) { h.permit("r", 1); h.revoke("r"); h.membership() }, number, kim, answered("opened", "phone", "dor_1"), "guest:*5678", true},
		"permit that ends first":     {func(h *house) { h.permit("later", 9, "dor_1"); h.permit("sooner", 8, "dor_2") }, number, kim, answered("opened", "phone", "dor_2"), "guest:*5678", true},
		"permit of a member":         {func(h *house) { h.membership(); h.permit("r", 1, "dor_2") }, number, kim, answered("opened", "phone", "dor_2"), "guest:*5678", true},
		"inner door, a member":       {func(h *house) { h.membership(); h.permit("r", 1, "dor_in") }, number, kim, answered("opened", "phone", "dor_1"), "guest:*5678", true},
		"not begun, another revoked": {func(h *house) { h.permit("r", 1, "dor_1"); h.revoke("r"); h.tomorrow("dor_2") }, number, kim, answered("denied", "not_started", "dor_2"), "guest:*5678", false},
		"not begun, the revoked one closed": {func(h *house) {
			h.permit("r", 1, "dor_1")
			h.revoke("r")
			h.tomorrow("dor_2")
			h.window("dor_1", "closed")
		}, number, kim, answered("denied", "not_started", "dor_2"), "guest:*5678", false},
		"not begun inside, another revoked": {func(h *house) { h.permit("r", 1, "dor_1"); h.revoke("r"); h.tomorrow("dor_in") }, number, kim, answered("denied", "not_started", ""), "guest:*5678", false},
		"expired, another revoked":          {func(h *house) { h.permit("r", 9, "dor_1"); h.revoke("r"); h.permit("s", 1, "dor_2"); h.Pass(time.Hour) }, number, kim, answered("denied", "expired", "dor_2"), "guest:*5678", false},
		"inside, another revoked":           {func(h *house) { h.permit("r", 9, "dor_1"); h.revoke("r"); h.permit("s", 1, "dor_in") }, number, kim, answered("denied", "door_out_of_scope", ""), "guest:*5678", false},
		"inside, the revoked one closed": {func(h *house) {
			h.permit("r", 9, "dor_1")
			h.revoke("r")
			h.permit("s", 1, "dor_in")
			h.window("dor_1", "closed")
		}, number, kim, answered("denied", "door_out_of_scope", ""), "guest:*5678", false},
		"not begun and closed": {func(h *house) { h.tomorrow("dor_2"); h.window("dor_2", "closed") }, number, kim, answered("denied", "closed_window", "dor_2"), "guest:*5678", false},
		"free window":          {func(h *house) { h.window("dor_2", "free") }, number, "01099990000", answered("opened", "free_window", "dor_2"), "guest:*0000", false},
		"free inner door":      {func(h *house) { h.window("dor_in", "free") }, number, "01099990000", answered("denied", "no_valid_grant", ""), "guest:*0000", false},
		"closed window":        {func(h *house) { h.permit("r", 1); h.window("dor_1", "closed") }, number, kim, answered("denied", "closed_window", "dor_1"), "guest:*5678", false},
		"nobody's number":      {func(h *house) { h.permit("r", 1) }, "05099999999", kim, entry.CallResult{}, "", false},
		"phone off": {func(h *house) {
			h.permit("r", 1)
			_, err := h.places.PatchPlace("plc_a", place.PlacePatch{PhoneEnabled: new(false)})
			h.ok(err)
		}, number, kim, entry.CallResult{}, "", false},
		"line down": {func(h *house) { h.permit("r", 1); h.door.outcome = vocab.Offline }, number, kim, answered("offline", "phone", "dor_1"), "guest:*5678", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			tt.set(h)
			got, err := h.Call(ctx, tt.to, tt.from)
			if d := cmp.Diff(tt.want, got); d != "" || err != nil {
				t.Errorf(`got %v %s, want d = "", no error`, err, d)
			}
			r, n := h.last()
			if (n == 0) != (tt.actor == "") || r.Actor != tt.actor || r.Result != tt.want.Result || r.Reason != tt.want.Reason || r.DoorID != tt.want.DoorID || (r.GrantID != "") != tt.grants {
				t.Errorf("%d records, %+v; want actor %q, %v, a credited grant: %t", n, r, tt.actor, tt.want, tt.grants)
			}
		})
	}
}

func TestCredit(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	m := h.membership()
	later, sooner := h.permit("later", 9), h.permit("sooner", 8)
	call := func() string { _, err := h.Call(ctx, number, kim); h.ok(err); r, _ := h.last(); return r.GrantID }
	used := func(id string) string {
		g, err := h.Grant(id)
		h.ok(err)
		return fmt.Sprint(g.UseCount, !g.FirstUsedAt.IsZero())
	}
	if got := call(); got != sooner.ID || used(got) != "1 true" {
		t.Errorf("credited %s, want %s, with one use", got, sooner.ID)
	}
	h.Pass(time.Minute)
	if got := call(); used(got) != "2 true" {
		t.Errorf("the second use: got %s, want 2 true", used(got))
	}
	if g, err := h.Grant(sooner.ID); err != nil || !g.FirstUsedAt.Equal(epoch) {
		t.Errorf("first used at %s, %v, want %s and no error", g.FirstUsedAt, err, epoch)
	}
	h.revoke("sooner")
	h.Pass(3 * time.Second) // otherwise the call would join the previous one
	h.door.outcome = vocab.NoResponse
	if got := call(); got != later.ID || used(got) != "0 false" {
		t.Errorf("credited %s, used %s; want %s without a use: only a reported opening counts", got, used(got), later.ID)
	}
	h.revoke("later")
	h.Pass(3 * time.Second)
	h.door.outcome = vocab.Reported
	if got := call(); got != m.ID || used(got) != "0 false" {
		t.Errorf("credited %s, want the membership %s, whose uses aren't counted", got, m.ID)
	}
}
