package place_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/place"
	"github.com/doorlab/doorlab/server/record"
	"github.com/doorlab/doorlab/server/store/storetest"
)

var epoch = storetest.Epoch // a Sunday noon in Seoul

type house struct {
	*storetest.House
	*place.Service
}

func newHouse(t *testing.T) *house {
	h := storetest.New(t)
	return &house{h, place.New(place.Config{Clock: h.Clock, Store: h.Store})}
}

var owner = record.By{PlaceID: "plc_a", KeyID: "key_a", KeyName: "partner", RequestID: "req_1"}

func policy(ref, mode string) place.PolicyRequest {
	return place.PolicyRequest{Ref: &ref, Mode: &mode}
}

// noAudit is a store whose disk fails at the last write of a change.
type noAudit struct {
	place.Store
	err error
}

func (s noAudit) ChangePlace(fn func(place.Tx) error) error {
	return s.Store.ChangePlace(func(tx place.Tx) error { return fn(noAuditTx{tx, s.err}) })
}

type noAuditTx struct {
	place.Tx
	err error
}

func (t noAuditTx) InsertAudit(record.Audit) error { return t.err }

// A policy and the record of who changed it are one write: if the record fails, the policy stays as it was.
func TestPolicyAndItsRecord(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	must.Get(h.SetPolicy(owner, "dor_1", policy("always", "free")))(t)
	rev, full := h.Digest("plc_a"), errors.New("disk full")
	failing := place.New(place.Config{Clock: h.Clock, Store: noAudit{h.Store, full}})
	if _, err := failing.SetPolicy(owner, "dor_1", policy("always", "closed")); !errors.Is(err, full) {
		t.Errorf("a policy whose record can't be written: %v, want %v", err, full)
	}
	if n, err := failing.DeletePolicies(owner, "dor_1", place.PolicyQuery{}); !errors.Is(err, full) {
		t.Errorf("deleted %d policies although the record can't be written: %v, want %v", n, err, full)
	}
	if now := h.Digest("plc_a"); now != rev || h.mode(t) != "free" {
		t.Errorf("revision %d and mode %s after both failed, want %d and free", now, h.mode(t), rev)
	}
	if n, err := h.DeletePolicies(owner, "dor_1", place.PolicyQuery{}); n != 1 || err != nil {
		t.Errorf("deleted %d policies, %v, want 1", n, err)
	}
	list, _, err := h.Records("plc_a", epoch, 10, 0)
	if err != nil || len(list) != 2 || list[0].Note != "1 policy deleted" || list[1].Note != "policy always free" {
		t.Errorf("records %+v, %v, want the policy that was set and its deletion", list, err)
	}
	for _, r := range list {
		if r.Result != vocab.Changed || r.DoorID != "dor_1" || r.Actor != "api:key_a" || r.ActorLabel != "partner" {
			t.Errorf("record %+v, want one of dor_1 that names the key", r)
		}
	}
	audits, _, err := h.Audits("plc_a", 10, 0)
	if err != nil || len(audits) != 2 || audits[0].Action != "policy.changed" || audits[0].RequestID != "req_1" {
		t.Errorf("audit log %+v, %v, want two changes of the request req_1", audits, err)
	}
}

func (h *house) mode(t *testing.T) string {
	t.Helper()
	p := must.Get(h.Store.Place("plc_a"))(t)
	ps := must.Get(h.Service.Policies("plc_a", "dor_1"))(t)
	var ws []access.Window
	for _, x := range ps {
		ws = append(ws, x.Window)
	}
	return access.Mode(ws, p.Hours(), "dor_1", h.Clock.Now())
}

func TestPolicies(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	set := func(r place.PolicyRequest) place.PolicyView {
		t.Helper()
		p := must.Get(h.SetPolicy(owner, "dor_1", r))(t)
		h.Digest("plc_a")
		return p
	}
	first := set(policy("always", "closed"))
	rev := h.Digest("plc_a")
	if again := set(policy("always", "closed")); cmp.Diff(first, again) != "" || h.Digest("plc_a") != rev {
		t.Errorf("a repeat differs from the first call, or changed the content: %s", cmp.Diff(first, again))
	}
	h.Pass(time.Minute)
	if p := set(policy("always", "free")); p.ID != first.ID || p.Mode != "free" || !p.Created().Equal(epoch.Add(time.Minute)) || !p.Active {
		t.Errorf("replaced: %+v, want %s, free, created a minute later, active", p, first.ID)
	}
	if p := set(policy("after_hours", "closed")); p.Active {
		t.Error("it is noon, the place is open")
	}
	if got := h.mode(t); got != "free" {
		t.Errorf("mode %s, want free", got)
	}
	if _, err := h.SetHours(owner, place.Week{"sun": {}}); err != nil { // closed today, immediately [HRS-1]
		t.Fatal(err)
	}
	if got := h.mode(t); got != "closed" {
		t.Errorf("mode after the hours changed: got %s, want closed", got)
	}
	custom := policy("custom", "auth")
	custom.StartsAt, custom.EndsAt = new(epoch.Add(time.Hour)), new(epoch.Add(1000*time.Hour))
	c := set(custom)
	if c.Active || set(custom).ID != c.ID {
		t.Errorf("custom: %+v, want it not active yet, and its repeat the same policy", c)
	}
	h.Pass(time.Hour)
	if got := h.mode(t); got != "auth" {
		t.Errorf("custom beats the rest: got %s, want auth", got)
	}
	ps, err := h.Service.Policies("plc_a", "dor_1")
	if err != nil || len(ps) != 3 || ps[0].ID != c.ID || ps[2].ID != first.ID {
		t.Errorf("got %+v, %v, want three, newest first: %s ... %s", ps, err, c.ID, first.ID)
	}
	for _, p := range ps { // all three cover this moment, one is in force
		if p.Active != (p.ID == c.ID) {
			t.Errorf("%s is in force: %t, want %t", p.Ref, p.Active, p.ID == c.ID)
		}
	}
	if p := set(policy("always", "auth")); p.Active {
		t.Error("a policy that another one overrides is said to be in force")
	}
	for _, tt := range []struct {
		q    place.PolicyQuery
		want int
	}{{place.PolicyQuery{PolicyID: "pol_x"}, 0}, {place.PolicyQuery{Ref: "always", PolicyID: c.ID}, 0}, {place.PolicyQuery{PolicyID: c.ID}, 1},
		{place.PolicyQuery{Ref: "always"}, 1}, {place.PolicyQuery{}, 1}, {place.PolicyQuery{}, 0}} {
		if n, err := h.DeletePolicies(owner, "dor_1", tt.q); n != tt.want || err != nil {
			t.Errorf("%+v: got %d, %v, want %d and no error", tt.q, n, err, tt.want)
		}
		h.Digest("plc_a")
	}
}

func TestPolicyRefuses(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	custom := func(change func(r *place.PolicyRequest)) place.PolicyRequest {
		r := policy("custom", "free")
		change(&r)
		return r
	}
	for name, tt := range map[string]struct {
		r    place.PolicyRequest
		want string
	}{
		"no ref":       {place.PolicyRequest{Mode: new("free")}, fail.MissingField},
		"no mode":      {place.PolicyRequest{Ref: new("always")}, fail.MissingField},
		"unknown ref":  {policy("never", "free"), fail.InvalidField},
		"unknown mode": {policy("always", "open"), fail.InvalidField},
		"empty custom": {policy("custom", "free"), fail.MissingField},
		"unknown day":  {custom(func(r *place.PolicyRequest) { r.Week = place.Week{"day": {}} }), fail.InvalidField},
		"no interval":  {custom(func(r *place.PolicyRequest) { r.Week = place.Week{"mon": {}} }), fail.InvalidField},
		"no end":       {custom(func(r *place.PolicyRequest) { r.StartsAt = &epoch }), fail.MissingField},
		"no start":     {custom(func(r *place.PolicyRequest) { r.EndsAt = &epoch }), fail.MissingField},
		"reversed":     {custom(func(r *place.PolicyRequest) { r.StartsAt, r.EndsAt = &epoch, &epoch }), fail.InvalidPeriod},
	} {
		if _, err := h.SetPolicy(owner, "dor_1", tt.r); fail.CodeOf(err) != tt.want {
			t.Errorf("%s: got %v, want %s", name, err, tt.want)
		}
	}
	for _, door := range []string{"dor_b", "dor_x", "brd_1"} {
		_, err1 := h.SetPolicy(owner, door, policy("always", "free"))
		_, err2 := h.Service.Policies("plc_a", door)
		_, err3 := h.DeletePolicies(owner, door, place.PolicyQuery{})
		for _, err := range []error{err1, err2, err3} {
			if fail.CodeOf(err) != fail.DeviceNotFound {
				t.Errorf("%s: got %v, want fail.CodeOf(err) = fail.DeviceNotFound", door, err)
			}
		}
	}
	if _, err := h.DeletePolicies(owner, "dor_1", place.PolicyQuery{Ref: "x"}); fail.CodeOf(err) != fail.InvalidQuery {
		t.Errorf("delete: got %v, want code %q", err, fail.InvalidQuery)
	}
	for i := range 21 {
		_, err := h.SetPolicy(owner, "dor_1", custom(func(r *place.PolicyRequest) {
			r.StartsAt, r.EndsAt = new(epoch.Add(time.Duration(i)*time.Hour)), new(epoch.Add(time.Duration(i+1)*time.Hour))
		}))
		if want := map[bool]string{true: fail.RuleViolated}[i == 20]; fail.CodeOf(err) != want {
			t.Errorf("custom policy %d: got %v, want code %q", i+1, err, want)
		}
	}
	if _, err := h.SetPolicy(owner, "dor_2", custom(func(r *place.PolicyRequest) { r.StartsAt, r.EndsAt = new(epoch), new(epoch.Add(time.Hour)) })); err != nil {
		t.Errorf("the first custom policy of another door: got %v, want no error", err)
	}
}

func TestSetHours(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	p, err := h.SetHours(owner, place.Week{"mon": {{"22:00", "02:00"}, {"09:00", "24:00"}}})
	if fail.CodeOf(err) != fail.InvalidField || err.(*fail.Error).Details["field"] != "hours.week.mon" {
		t.Errorf("overlap: got %+v, %v, want invalid_field for hours.week.mon", p, err)
	}
	for name, tt := range map[string]struct {
		w    place.Week
		want string
	}{
		"absent":  {nil, fail.MissingField},
		"null":    {place.Week{"mon": nil}, fail.InvalidField},
		"day":     {place.Week{"monday": {}}, fail.InvalidField},
		"single":  {place.Week{"mon": {{"09:00"}}}, fail.InvalidField},
		"triple":  {place.Week{"mon": {{"09:00", "10:00", "11:00"}}}, fail.InvalidField},
		"equal":   {place.Week{"mon": {{"09:00", "09:00"}}}, fail.InvalidField},
		"no time": {place.Week{"mon": {{"9:00", "10:00"}}}, fail.InvalidField},
	} {
		if _, err := h.SetHours(owner, tt.w); fail.CodeOf(err) != tt.want {
			t.Errorf("%s: got %v, want code %q", name, err, tt.want)
		}
	}
	if _, err := h.SetHours(record.By{PlaceID: "plc_x"}, place.Week{}); fail.CodeOf(err) != fail.PlaceNotFound {
		t.Errorf("unknown place: got %v, want code %q", err, fail.PlaceNotFound)
	}
	rev := h.Digest("plc_a")
	p, err = h.SetHours(owner, place.Week{"mon": {{"22:00", "02:00"}}, "tue": {{"00:00", "24:00"}}})
	want := access.Week{"sun": {{"09:00", "22:00"}}, "mon": {{"22:00", "02:00"}}, "tue": {{"00:00", "24:00"}}}
	if err != nil || cmp.Diff(want, p.Week) != "" {
		t.Errorf("got error %v, want none; -want +got:\n%s", err, cmp.Diff(want, p.Week))
	}
	if got := h.Digest("plc_a"); got != rev+1 {
		t.Errorf("revision %d, want %d", got, rev+1)
	}
	if _, err := h.SetHours(owner, place.Week{"tue": {{"00:00", "24:00"}}}); err != nil || h.Digest("plc_a") != rev+1 {
		t.Errorf("nothing changed: got %v, want no error and one revision", err)
	}
}

func TestSchedule(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	if _, err := h.PatchPlace("plc_a", place.PlacePatch{Holidays: &[]access.Holiday{{Date: "2026-11-08", Name: "Day", Intervals: [][2]string{{"10:00", "11:00"}}}}}); err != nil {
		t.Fatal(err)
	}
	s, err := h.Service.Schedule("plc_a", 0)
	if err != nil || len(s.Days) != 7 || s.Days[0].Date != "2026-11-01" || s.Days[0].Weekday != "sun" || !s.Days[0].Open || s.Days[1].Open {
		t.Errorf("schedule %+v, %v, want seven days from Sunday, 2026-11-01, which is open, Monday closed", s, err)
	}
	if s, err := h.Service.Schedule("plc_a", 60); err != nil || len(s.Days) != 60 || s.Days[7].Note == nil || s.Days[7].Intervals[0].Start != "10:00" {
		t.Errorf(`got %v, want no error, len(s.Days) = 60, s.Days[7].Note not nil, s.Days[7].Intervals[0].Start = "10:00"`, err)
	}
	for _, n := range []int{-1, 61} {
		if _, err := h.Service.Schedule("plc_a", n); fail.CodeOf(err) != fail.InvalidQuery {
			t.Errorf("%d days: got %v, want code %q", n, err, fail.InvalidQuery)
		}
	}
	h.Pass(12 * time.Hour) // 00:00 in Seoul, 15:00 in UTC
	if s, err := h.Service.Schedule("plc_a", 1); err != nil || s.Days[0].Date != "2026-11-02" {
		t.Errorf("today is the place's: got %+v, %v, want Days[0].Date 2026-11-02 and no error", s, err)
	}
	if _, err := h.Service.Schedule("plc_x", 1); fail.CodeOf(err) != fail.PlaceNotFound {
		t.Errorf("unknown place: got %v, want code %q", err, fail.PlaceNotFound)
	}
}

func TestPatch(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	gate := func() string {
		g, err := h.GateConfig("plc_a")
		return fmt.Sprint(g, err)
	}
	if got := gate(); got != "{true 720 05011112222} <nil>" {
		t.Errorf("access configuration %s, want phone on, 720 h and the new number", got)
	}
	rev := h.Digest("plc_a")
	if _, err := h.PatchPlace("plc_a", place.PlacePatch{EntryPhone: new(""), PhoneEnabled: new(false)}); err != nil || gate() != "{false 720 } <nil>" || h.Digest("plc_a") != rev {
		t.Errorf("got %s, %v, want no number, phone entry off, and the revision unchanged", gate(), err)
	}
	if _, err := h.PatchPlace("plc_b", place.PlacePatch{EntryPhone: new("05011112222")}); err != nil {
		t.Errorf("a free number: got %v, want no error", err)
	}
	if p, err := h.PatchPlace("plc_a", place.PlacePatch{Timezone: new("America/New_York"), Closures: &[]access.Closure{{From: "2026-12-24", To: "2026-12-25"}}}); err != nil || p.Timezone != "America/New_York" || h.Digest("plc_a") != rev+1 {
		t.Errorf(`got %+v %v, want no error, p.Timezone = "America/New_York", h.Digest("plc_a") = rev+1`, p, err)
	}
	for name, tt := range map[string]struct {
		p    place.PlacePatch
		want string
	}{
		"taken":     {place.PlacePatch{EntryPhone: new("05011112222")}, fail.RuleViolated},
		"no phone":  {place.PlacePatch{EntryPhone: new("050-1111-2222")}, fail.InvalidPhone},
		"zone":      {place.PlacePatch{Timezone: new("Asia/Nowhere")}, fail.InvalidField},
		"local":     {place.PlacePatch{Timezone: new("Local")}, fail.InvalidField},
		"closure":   {place.PlacePatch{Closures: &[]access.Closure{{From: "2026-12-25", To: "2026-12-24"}}}, fail.InvalidField},
		"no date":   {place.PlacePatch{Closures: &[]access.Closure{{From: "2026-02-30", To: "2026-12-24"}}}, fail.InvalidField},
		"holiday":   {place.PlacePatch{Holidays: &[]access.Holiday{{Date: "x"}}}, fail.InvalidField},
		"twice":     {place.PlacePatch{Holidays: &[]access.Holiday{{Date: "2026-11-01"}, {Date: "2026-11-01"}}}, fail.InvalidField},
		"intervals": {place.PlacePatch{Holidays: &[]access.Holiday{{Date: "2026-11-01", Intervals: [][2]string{{"1", "2"}}}}}, fail.InvalidField},
	} {
		if _, err := h.PatchPlace("plc_a", tt.p); fail.CodeOf(err) != tt.want {
			t.Errorf("%s: got %v, want code %q", name, err, tt.want)
		}
	}
	if d, err := h.PatchDoor("dor_1", place.DoorPatch{Entry: new(false), EntryPermitMaxHours: new(1)}); err != nil || d.Entry || d.PermitMaxHours != 1 {
		t.Errorf("patched: %+v, %v, want no entry door and one hour", d, err)
	}
	if d, err := h.Store.Door("dor_1"); err != nil || d.Entry || d.PermitMaxHours != 1 {
		t.Errorf("stored: %+v, %v, want no entry door and one hour", d, err)
	}
	for _, n := range []int{0, 721} {
		if _, err := h.PatchDoor("dor_1", place.DoorPatch{EntryPermitMaxHours: &n}); fail.CodeOf(err) != fail.InvalidField {
			t.Errorf("%d h: got %v, want code %q", n, err, fail.InvalidField)
		}
	}
	if _, err := h.PatchDoor("dor_x", place.DoorPatch{}); fail.CodeOf(err) != fail.DeviceNotFound {
		t.Errorf("unknown door: got %v, want code %q", err, fail.DeviceNotFound)
	}
	if _, err := h.PatchPlace("plc_x", place.PlacePatch{}); fail.CodeOf(err) != fail.PlaceNotFound {
		t.Errorf("unknown place: got %v, want code %q", err, fail.PlaceNotFound)
	}
}
