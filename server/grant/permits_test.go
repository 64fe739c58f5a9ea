package grant_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/doorlab/doorlab/internal/id"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/record"
	"github.com/doorlab/doorlab/server/store/storetest"
)

var (
	epoch = storetest.Epoch
	byA   = record.By{PlaceID: "plc_a", KeyID: "key_a"}
)

type house struct {
	*storetest.House
	*grant.Service
	t       testing.TB
	applied map[string]int64
}

func newHouse(t testing.TB) *house {
	t.Helper()
	h := &house{House: storetest.New(t), t: t, applied: map[string]int64{}}
	h.Service = grant.New(grant.Config{Clock: h.Clock, Store: h.Store, Secret: []byte("s"), LinkURL: "http://link",
		Applied: func(b string) (int64, time.Time) {
			return h.applied[b], epoch.Add(time.Duration(h.applied[b]) * time.Second)
		}})
	return h
}

// request is a valid request, from an hour from now, for dor_1.
func request(ref string) grant.RegisterRequest {
	return grant.RegisterRequest{ExternalRef: &ref, Phone: new("01012345678"), Name: new("Kim"),
		StartsAt: new(epoch), EndsAt: new(epoch.Add(time.Hour)), DoorIDs: []string{"dor_1"}}
}

func (h *house) must(r grant.RegisterRequest) grant.Permit {
	h.t.Helper()
	out := must.Get(h.Register(byA, r))(h.t)
	return out
}

func TestRegisterRefuses(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	long := strings.Repeat("é", 129)
	many := make([]string, 201)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	for name, tt := range map[string]struct {
		change func(r *grant.RegisterRequest)
		want   string
	}{
		"no externalRef":        {func(r *grant.RegisterRequest) { r.ExternalRef = nil }, fail.MissingField},
		"empty externalRef":     {func(r *grant.RegisterRequest) { r.ExternalRef = new("") }, fail.InvalidField},
		"long externalRef":      {func(r *grant.RegisterRequest) { r.ExternalRef = &long }, fail.InvalidField},
		"no phone":              {func(r *grant.RegisterRequest) { r.Phone = nil }, fail.MissingField},
		"short phone":           {func(r *grant.RegisterRequest) { r.Phone = new("0101234") }, fail.InvalidPhone},
		"long phone":            {func(r *grant.RegisterRequest) { r.Phone = new("0101234567890123") }, fail.InvalidPhone},
		"phone with dashes":     {func(r *grant.RegisterRequest) { r.Phone = new("010-1234-5678") }, fail.InvalidPhone},
		"phone of other digits": {func(r *grant.RegisterRequest) { r.Phone = new("٠١٢٣٤٥٦٧٨") }, fail.InvalidPhone},
		"long name":             {func(r *grant.RegisterRequest) { r.Name = new(long[:2*101]) }, fail.InvalidField},
		"no startsAt":           {func(r *grant.RegisterRequest) { r.StartsAt = nil }, fail.MissingField},
		"no endsAt":             {func(r *grant.RegisterRequest) { r.EndsAt = nil }, fail.MissingField},
		"no length":             {func(r *grant.RegisterRequest) { r.EndsAt = r.StartsAt }, fail.InvalidPeriod},
		"reversed":              {func(r *grant.RegisterRequest) { r.StartsAt, r.EndsAt = r.EndsAt, r.StartsAt }, fail.InvalidPeriod},
		"no doors":              {func(r *grant.RegisterRequest) { r.DoorIDs = []string{} }, fail.EmptyDoorIDs},
		"a foreign door":        {func(r *grant.RegisterRequest) { r.DoorIDs = []string{"dor_1", "dor_b"} }, fail.InvalidDoorIDs},
		"a board":               {func(r *grant.RegisterRequest) { r.DoorIDs = []string{"brd_1"} }, fail.InvalidDoorIDs},
		"201 doors":             {func(r *grant.RegisterRequest) { r.DoorIDs = many }, fail.InvalidDoorIDs},
		"over 720 h":            {func(r *grant.RegisterRequest) { r.EndsAt = new(epoch.Add(720*time.Hour + time.Millisecond)) }, fail.PermitPeriodTooLong},
		"over a door's limit": {func(r *grant.RegisterRequest) {
			r.DoorIDs = []string{"dor_1", "dor_2"}
			r.EndsAt = new(epoch.Add(49 * time.Hour))
		}, fail.PermitPeriodTooLong},
		"over the default scope's limit": {func(r *grant.RegisterRequest) { r.DoorIDs = nil; r.EndsAt = new(epoch.Add(49 * time.Hour)) }, fail.PermitPeriodTooLong},
	} {
		t.Run(name, func(t *testing.T) {
			r := request("r")
			tt.change(&r)
			if _, err := h.Register(byA, r); fail.CodeOf(err) != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
	if _, total, err := h.List("plc_a", grant.ListQuery{}); err != nil || total != 0 {
		t.Errorf("%d permits came of refused requests (%v), want 0 and no error", total, err)
	}
	if _, err := h.Register(record.By{PlaceID: "plc_none"}, grant.RegisterRequest{ExternalRef: new("r"), Phone: new("01012345678"),
		StartsAt: new(epoch), EndsAt: new(epoch.Add(time.Hour))}); fail.CodeOf(err) != fail.RuleViolated {
		t.Errorf("a place without entry doors: got %v, want rule_violated", err)
	}
}

func TestRegisterDetails(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	r := request("r")
	r.DoorIDs, r.EndsAt = []string{"dor_2", "dor_1"}, new(epoch.Add(48*time.Hour+time.Millisecond))
	_, err := h.Register(byA, r)
	want := map[string]any{"maxHours": 48, "requestedHours": 48.001, "doorId": "dor_2"}
	if d := cmp.Diff(want, err.(*fail.Error).Details); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	r.DoorIDs = []string{"x", "dor_b", "dor_1", "x"}
	_, err = h.Register(byA, r)
	if d := cmp.Diff([]string{"dor_b", "x"}, err.(*fail.Error).Details["invalid"]); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	for id, want := range map[string]string{
		"dor1":                  `doorIds must be doors of this place; "dor1" is not one of them, did you mean "dor_1"?`,
		"gate":                  `doorIds must be doors of this place; "gate" is not one of them`,
		strings.Repeat("x", 65): "doorIds must be doors of this place",
	} {
		r.DoorIDs = []string{id}
		if _, err = h.Register(byA, r); err.(*fail.Error).Message != want {
			t.Errorf("%.20s: got %v, want %s", id, err, want)
		}
	}
	for name, r := range map[string]grant.RegisterRequest{"720 h exactly": request("a"), "characters, not bytes": request("b"), "in the past": request("c")} {
		switch name {
		case "720 h exactly":
			r.EndsAt = new(epoch.Add(720 * time.Hour))
		case "characters, not bytes":
			r.Name = new(strings.Repeat("김", 100))
		case "in the past":
			r.StartsAt = new(epoch.Add(-48 * time.Hour))
			r.EndsAt = new(epoch.Add(-47 * time.Hour))
		}
		if _, err := h.Register(byA, r); err != nil {
			t.Errorf("%s: got %v, want no error", name, err)
		}
	}
}

func TestReferencesInOtherLetters(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	if small, capital := h.must(request("ref-a")), h.must(request("REF-A")); small.ID == capital.ID {
		t.Errorf("ref-a and REF-A are both %s, want two permits", small.ID)
	}
}

// TestPeriodsLongPast: a permit that ended at some clock's epoch has ended on the boards too, although 0 means "no
// end" there.
func TestPeriodsLongPast(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for _, at := range []time.Time{time.Unix(0, 0), time.UnixMilli(1), time.UnixMilli(-1)} {
		r := request(at.String())
		r.StartsAt, r.EndsAt = new(at.Add(-time.Hour)), new(at)
		p := h.must(r)
		if p.State != grant.Expired || p.Content("").ValidAt(epoch.UnixMilli()) {
			t.Errorf("ended %s: got %s, %+v, want expired, on boards too", at.UTC(), p.State, p.Content(""))
		}
		if g, err := h.Grant(p.ID); err != nil || g.EndsAt.IsZero() || !g.EndsAt.Equal(at) {
			t.Errorf("ended %s, stored %s, %v, want the same time", at.UTC(), g.EndsAt, err)
		}
	}
	for _, s := range []string{"0001-01-01T00:00:00Z", "0000-12-31T23:00:00Z", "9999-12-31T23:59:59-01:00"} {
		if _, err := fail.ParseTime("endsAt", s); fail.CodeOf(err) != fail.InvalidTimestamp {
			t.Errorf("%s: got %v, want fail.CodeOf(err) = fail.InvalidTimestamp", s, err)
		}
	}
}

// TestChangedInTheSameMillisecond: on a frozen clock, too, a permit shows that its terms have changed: a board may have let
// somebody in by those of before, and that counts [OFF-4].
func TestChangedInTheSameMillisecond(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	first := h.must(request("r"))
	if again := h.must(request("r")); !again.UpdatedAt.Equal(first.CreatedAt) {
		t.Errorf("an equal repeat changes updatedAt to %v, want %v", again.UpdatedAt, first.CreatedAt)
	}
	r := request("r")
	r.EndsAt = new(epoch.Add(9 * time.Hour))
	if p := h.must(r); !p.CreatedAt.Equal(first.CreatedAt) || !p.UpdatedAt.Equal(first.CreatedAt.Add(time.Millisecond)) {
		t.Errorf("changed at %v, updatedAt %v, want a millisecond later", p.CreatedAt, p.UpdatedAt)
	}
}

func TestRegisterRepeats(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	first := h.must(request("r"))
	if !strings.HasPrefix(first.ID, id.Permit) || len(first.Token) != 43 || first.URL != "http://link/entry?t="+first.Token || first.State != grant.Active {
		t.Errorf("registered: %+v, want an active permit with a token of 43 characters and its link", first)
	}
	rev := h.Digest("plc_a")
	h.Pass(2 * time.Hour)
	if again := h.must(request("r")); again.Token != first.Token || again.State != grant.Expired || !again.UpdatedAt.Equal(first.UpdatedAt) {
		t.Errorf("got %+v, want again.Token = first.Token, again.State = grant.Expired, again.UpdatedAt at first.UpdatedAt", again)
	}
	if h.Digest("plc_a") != rev {
		t.Error("an equal repeat raised the revision")
	}
	r := request("r")
	r.Phone, r.Name, r.EndsAt, r.DoorIDs = new("01099998888"), nil, new(epoch.Add(9*time.Hour)), nil
	p := h.must(r)
	if p.ID != first.ID || p.Phone != "01099998888" || p.Name != "" || p.State != grant.Active || !p.CreatedAt.Equal(epoch) ||
		!slices.Equal(p.Doors, []string{"dor_1"}) || p.URL != first.URL {
		t.Errorf("repeated: %+v, want the new values on the same permit and link", p)
	}
	if h.Digest("plc_a") != rev+1 {
		t.Error("a change raises the revision once")
	}
}

func TestScope(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	register := func(ref string, ids []string) string {
		r := request(ref)
		r.DoorIDs = ids
		return strings.Join(h.must(r).Doors, " ")
	}
	if got := register("r", nil); got != "dor_1 dor_2" {
		t.Errorf("default scope: got %s, want dor_1 dor_2", got)
	}
	if got := register("in", []string{"dor_in", "dor_1", "dor_in"}); got != "dor_1 dor_in" {
		t.Errorf("duplicates collapse: got %s, want dor_1 dor_in", got)
	}
	if got := register("in", nil); got != "dor_1 dor_in" {
		t.Errorf("kept: got %s, want dor_1 dor_in", got)
	}
	if got := register("in", []string{"dor_2"}); got != "dor_2" {
		t.Errorf("replaced: got %s, want dor_2", got)
	}
}

// TestConcurrentCreates: concurrent creates give one permit with one id [PERM-2].
func TestConcurrentCreates(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ids, tokens := make([]string, 64), make([]string, 64)
	before := h.Digest("plc_a")
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() {
			<-start
			p := h.must(request("r"))
			ids[i], tokens[i] = p.ID, p.Token
		})
	}
	close(start)
	wg.Wait()
	slices.Sort(ids)
	slices.Sort(tokens)
	if _, total, _ := h.List("plc_a", grant.ListQuery{}); total != 1 || len(slices.Compact(ids)) != 1 || len(slices.Compact(tokens)) != 1 {
		t.Errorf("%d permits, ids %v, tokens %v; want one of each", total, slices.Compact(ids), slices.Compact(tokens))
	}
	if after := h.Digest("plc_a"); after != before+1 {
		t.Errorf("revision %d, was %d: a repeat is one call, want %d", after, before, before+1)
	}
}

func TestListAndGet(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	var ids []string
	for i := range 5 {
		ids = append(ids, h.must(request(fmt.Sprint(i))).ID)
	}
	slices.Reverse(ids)
	list, total, err := h.List("plc_a", grant.ListQuery{Limit: 2, Offset: 1})
	if err != nil || total != 5 || len(list) != 2 || list[0].ID != ids[1] || list[1].ID != ids[2] {
		t.Errorf("got %d %+v %v, want no error, total = 5, len(list) = 2, list[0].ID = ids[1], list[1].ID = ids[2]", total, list, err)
	}
	if list, total, _ := h.List("plc_a", grant.ListQuery{ExternalRef: "3"}); total != 1 || list[0].ExternalRef != "3" {
		t.Errorf(`got %d %+v, want total = 1, list[0].ExternalRef = "3"`, total, list)
	}
	if _, err := h.Get("plc_b", ids[0]); fail.CodeOf(err) != fail.PermitNotFound {
		t.Errorf("another place's: got %v, want code %q", err, fail.PermitNotFound)
	}
	rev := h.Digest("plc_a")
	sync := func() grant.Sync {
		d := must.Get(h.Get("plc_a", ids[0]))(t)
		return d.Sync
	}
	if got := sync(); got != (grant.Sync{State: grant.Waiting, Boards: 2}) {
		t.Errorf("got %+v, want (grant.Sync{State: grant.Waiting, Boards: 2})", got)
	}
	h.applied["brd_1"] = rev
	h.applied["brd_2"] = rev - 1
	if got := sync(); got.State != grant.Waiting || got.SyncedBoards != 1 {
		t.Errorf("got %+v, want got.State = grant.Waiting, got.SyncedBoards = 1", got)
	}
	h.applied["brd_2"] = rev + 5
	if got := sync(); got.State != grant.Synced || got.SyncedBoards != 2 || !got.LastSyncedAt.Equal(epoch.Add(time.Duration(rev+5)*time.Second)) {
		t.Errorf("got %+v, want got.State = grant.Synced, got.SyncedBoards = 2, got.LastSyncedAt at epoch.Add(time.Duration(rev+5)*time.Second)", got)
	}
}
