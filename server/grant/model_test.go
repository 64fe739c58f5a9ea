package grant_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/grant"
)

// permit is the model of a permit: the contract, implemented a second time.
type permit struct {
	id, token, phone, name, reason string
	from, to                       time.Duration // since epoch
	doors                          []string
	revoked                        bool
	tokens                         []string // dead ones
}

func (p *permit) state(now time.Duration) string {
	switch {
	case p.revoked:
		return grant.Revoked
	case now < p.from:
		return grant.Pending
	case now >= p.to:
		return grant.Expired
	}
	return grant.Active
}

var doorHours = map[string]int{"dor_1": 720, "dor_2": 48, "dor_in": 720}

// TestPermitsAgainstModel draws creates, repeats, revocations and waits, and compares every answer, every link and
// the list with the model.
func TestPermitsAgainstModel(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	round := 0
	rapid.Check(t, func(t *rapid.T) {
		round++
		m := model{}
		ref := func(t *rapid.T) string {
			return fmt.Sprint(round, "-", rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "ref"))
		}
		now := func() time.Duration { return h.Clock.Now().Sub(epoch) }
		t.Repeat(map[string]func(*rapid.T){
			"register": func(t *rapid.T) { m.register(t, h, ref(t), now()) },
			"revoke":   func(t *rapid.T) { m.revoke(t, h, ref(t)) },
			"pass":     func(t *rapid.T) { h.Pass(time.Duration(rapid.IntRange(1, 90).Draw(t, "min")) * time.Minute) },
			"":         func(t *rapid.T) { m.compare(t, h, now()) },
		})
		h.Digest("plc_a")
	})
}

// model is the permits by reference.
type model map[string]*permit

func (m model) register(t *rapid.T, h *house, ref string, now time.Duration) {
	from := now + time.Duration(rapid.IntRange(-120, 120).Draw(t, "from"))*time.Minute
	hours := rapid.SampledFrom([]int{0, 1, 2, 48, 720}).Draw(t, "hours")
	span := time.Duration(hours)*time.Hour + rapid.SampledFrom([]time.Duration{0, time.Millisecond, -time.Millisecond}).Draw(t, "and")
	to := from + span
	named := rapid.SampledFrom([][]string{nil, {"dor_1"}, {"dor_2", "dor_in"}, {"dor_in", "dor_1", "dor_in"}, {}, {"dor_1", "dor_b"}, {"brd_1"}}).Draw(t, "doors")
	phone := rapid.SampledFrom([]string{"01011110000", "01022220000"}).Draw(t, "phone")
	name := rapid.SampledFrom([]string{"", "Kim", "Lee"}).Draw(t, "name")
	out, err := h.Register(byA, grant.RegisterRequest{ExternalRef: &ref, Phone: &phone, Name: &name,
		StartsAt: new(epoch.Add(from)), EndsAt: new(epoch.Add(to)), DoorIDs: named})

	if wrong := refused(span, named); wrong != "" { // nothing may have changed; compare checks that
		if fail.CodeOf(err) != wrong {
			t.Fatalf("%s on %v: got %v, want %s", span, named, err, wrong)
		}
		return
	}
	doors := slices.Compact(slices.Sorted(slices.Values(named)))
	old := m[ref]
	if named == nil && old != nil {
		doors = old.doors
	} else if named == nil {
		doors = []string{"dor_1", "dor_2"}
	}
	most := 720
	for _, d := range doors {
		most = min(most, doorHours[d])
	}
	if span > time.Duration(most)*time.Hour {
		if fail.CodeOf(err) != fail.PermitPeriodTooLong {
			t.Fatalf("%s on %v: got %v, want code %q", span, doors, err, fail.PermitPeriodTooLong)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if old == nil {
		old = &permit{id: out.ID, token: out.Token}
		m[ref] = old
	} else if old.revoked {
		if slices.Contains(old.tokens, out.Token) {
			t.Fatal("a dead link came back")
		}
		old.token = out.Token
	}
	old.name = name
	old.phone, old.from, old.to, old.doors, old.revoked, old.reason = phone, from, to, doors, false, ""
	if out.ID != old.id || out.Token != old.token {
		t.Fatalf("%s became %s, want the same id and link", old.id, out.ID)
	}
}

// refused returns the code for a request that is invalid on its own.
func refused(span time.Duration, doors []string) string {
	switch {
	case span <= 0:
		return fail.InvalidPeriod
	case doors != nil && len(doors) == 0:
		return fail.EmptyDoorIDs
	case slices.Contains(doors, "dor_b"), slices.Contains(doors, "brd_1"):
		return fail.InvalidDoorIDs
	}
	return ""
}

func (m model) revoke(t *rapid.T, h *house, ref string) {
	reason := rapid.SampledFrom([]string{"", "lost"}).Draw(t, "reason")
	old := m[ref]
	r := grant.RevokeRequest{ExternalRef: &ref, Reason: &reason}
	if old != nil {
		switch rapid.IntRange(0, 3).Draw(t, "by") {
		case 0:
			r.ExternalRef, r.PermitID = nil, &old.id
		case 1:
			r.PermitID = &old.id
		case 2:
			for other, p := range m {
				if other != ref { // two permits: ambiguous
					if _, err := h.Service.Revoke(byA, grant.RevokeRequest{ExternalRef: &ref, PermitID: &p.id}); fail.CodeOf(err) != fail.InvalidField {
						t.Fatalf("two permits: got %v, want code %q", err, fail.InvalidField)
					}
				}
			}
		}
	}
	p, err := h.Service.Revoke(byA, r)
	if old == nil {
		if fail.CodeOf(err) != fail.PermitNotFound {
			t.Fatalf("unknown: got %v, want code %q", err, fail.PermitNotFound)
		}
		return
	}
	if !old.revoked {
		old.revoked, old.reason = true, reason
		old.tokens = append(old.tokens, old.token)
	}
	if err != nil || p.ID != old.id || p.RevokeReason != old.reason || p.State != grant.Revoked {
		t.Fatalf("got %+v, %v, want no error, p.ID = old.id, p.RevokeReason = old.reason, p.State = grant.Revoked", p, err)
	}
}

func (m model) compare(t *rapid.T, h *house, now time.Duration) {
	for ref, want := range m {
		list, total, err := h.List("plc_a", grant.ListQuery{ExternalRef: ref})
		if err != nil || total != 1 {
			t.Fatalf("%s: got %d, %v, want no error, total = 1", ref, total, err)
		}
		p := list[0]
		if p.ID != want.id || p.State != want.state(now) || p.Phone != want.phone || p.Name != want.name || !slices.Equal(p.Doors, want.doors) ||
			!p.StartsAt.Equal(epoch.Add(want.from)) || !p.EndsAt.Equal(epoch.Add(want.to)) || p.URL != "http://link/entry?t="+want.token {
			t.Fatalf("%s is %+v, the model says %+v at %s", ref, p, want, now)
		}
		if onBoards := p.Content(""); onBoards.Revoked != want.revoked || (onBoards.TokenHash == "") != want.revoked {
			t.Fatalf("%s: boards are told %+v, want revoked %t, and a link only if it isn't", ref, onBoards, want.revoked)
		}
		for _, token := range append([]string{want.token}, want.tokens...) {
			g, err := h.GrantByLink(grant.HashLink(token))
			alive := err == nil && g.RevokedAt.IsZero()
			if alive != (token == want.token && !want.revoked) {
				t.Fatalf("%s: link alive %v, revoked %v", ref, alive, want.revoked)
			}
		}
	}
}
