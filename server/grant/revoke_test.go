package grant_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/record"
)

func TestRevoke(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	first := h.must(request("r"))
	other := h.must(request("other"))
	membership := must.Get(h.CreateTerm(byA, grant.Membership, grant.TermRequest{Phone: new("01012345678"), StartsAt: new(epoch)}))(t)
	for name, tt := range map[string]struct {
		r    grant.RevokeRequest
		want string
	}{
		"nothing":           {grant.RevokeRequest{}, fail.MissingField},
		"empty":             {grant.RevokeRequest{ExternalRef: new("")}, fail.InvalidField},
		"two permits":       {grant.RevokeRequest{ExternalRef: new("r"), PermitID: &other.ID}, fail.InvalidField},
		"one unknown":       {grant.RevokeRequest{ExternalRef: new("r"), PermitID: new("pmt_x")}, fail.InvalidField},
		"unknown reference": {grant.RevokeRequest{ExternalRef: new("x")}, fail.PermitNotFound},
		"unknown id":        {grant.RevokeRequest{PermitID: new("x")}, fail.PermitNotFound},
		"a membership":      {grant.RevokeRequest{PermitID: &membership.ID}, fail.PermitNotFound},
		"long unknown id":   {grant.RevokeRequest{PermitID: new(strings.Repeat("x", 300))}, fail.PermitNotFound},
		"deceptive reason":  {grant.RevokeRequest{ExternalRef: new("r"), Reason: new("\u202egnp")}, fail.InvalidField},
		"long reason":       {grant.RevokeRequest{ExternalRef: new("r"), Reason: new(strings.Repeat("x", 201))}, fail.InvalidField},
	} {
		if _, err := h.Service.Revoke(byA, tt.r); fail.CodeOf(err) != tt.want {
			t.Errorf("%s: got %v, want %s", name, err, tt.want)
		}
	}
	if _, err := h.Service.Revoke(record.By{PlaceID: "plc_b"}, grant.RevokeRequest{PermitID: &first.ID}); fail.CodeOf(err) != fail.PermitNotFound {
		t.Errorf("another place's: got %v, want code %q", err, fail.PermitNotFound)
	}
	h.Pass(time.Minute)
	p, err := h.Service.Revoke(byA, grant.RevokeRequest{ExternalRef: new("r"), PermitID: &first.ID, Reason: new("lost,\nand found")})
	if err != nil || p.State != grant.Revoked || p.RevokeReason != "lost,\nand found" || !p.RevokedAt.Equal(epoch.Add(time.Minute)) || p.URL != first.URL {
		t.Errorf(`got %+v, %v, want no error, p.State = grant.Revoked, p.RevokeReason = "lost,\nand found", p.RevokedAt at epoch.Add(time.Minute), p.URL = first.URL`, p, err)
	}
	h.Pass(time.Minute)
	again, err := h.Service.Revoke(byA, grant.RevokeRequest{PermitID: &first.ID, Reason: new("again")})
	if d := cmp.Diff(p, again); d != "" || err != nil {
		t.Errorf("a repeat: got %v, want the same answer (-first +again):\n%s", err, d)
	}
	revived := h.must(request("r"))
	if revived.ID != first.ID || revived.Token == first.Token || revived.State != grant.Active || revived.RevokeReason != "" {
		t.Errorf("registered again: %+v, want %s active without a reason, under another token", revived, first.ID)
	}
	if _, err := h.GrantByLink(grant.HashLink(first.Token)); err == nil {
		t.Error("the old link is dead for good")
	}
	if g, err := h.GrantByLink(grant.HashLink(revived.Token)); err != nil || g.ID != first.ID {
		t.Errorf("the new link: got %v, want it to lead to the same permit", err)
	}
	h.Digest("plc_a")
}

func TestStateFollowsTime(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	r := request("r")
	r.StartsAt, r.EndsAt = new(epoch.Add(time.Hour)), new(epoch.Add(2*time.Hour))
	p := h.must(r)
	for _, tt := range []struct {
		at   time.Duration
		want string
	}{{time.Hour - 1, grant.Pending}, {time.Hour, grant.Active}, {2*time.Hour - 1, grant.Active}, {2 * time.Hour, grant.Expired}} {
		if got := p.Grant.State(epoch.Add(tt.at)); got != tt.want {
			t.Errorf("at %s: got %s, want %s", tt.at, got, tt.want)
		}
	}
	if p.Kind != access.KindPermit || p.State != grant.Pending {
		t.Errorf("got %+v, want p.Kind = access.KindPermit, p.State = grant.Pending", p)
	}
}
