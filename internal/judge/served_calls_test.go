package judge

import (
	"slices"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

// TestRuleCall: which door a caller gets, as described in docs/decisions.md.
func TestRuleCall(t *testing.T) {
	t.Parallel()
	of := func(id, kind string, ends int64, doors ...string) refGrant {
		return refGrant{ID: id, Kind: kind, PhoneHash: "kim", Doors: doors, StartsAt: 100, EndsAt: ends}
	}
	revoked := of("p", "permit", 900, "a")
	revoked.Revoked = true
	window := func(door, mode string) refWindow { return refWindow{DoorID: door, Ref: "always", Mode: mode} }
	for name, c := range map[string]struct {
		grants  []refGrant
		windows []refWindow
		at      int64
		entries []string
		doors   []string // nil: denied
		reason  vocab.Reason
	}{
		"the first in the place's order":             {[]refGrant{of("p", "permit", 900, "a", "b")}, nil, 500, []string{"c", "b", "a"}, []string{"b"}, vocab.Reason(vocab.Onsite)},
		"of the permit that ends first":              {[]refGrant{of("p", "permit", 900, "a"), of("q", "permit", 800, "b")}, nil, 500, []string{"a", "b"}, []string{"b"}, vocab.Reason(vocab.Onsite)},
		"of the permit before the membership":        {[]refGrant{of("m", "membership", 0, "a"), of("q", "permit", 800, "b")}, nil, 500, []string{"a", "b"}, []string{"b"}, vocab.Reason(vocab.Onsite)},
		"passing over a grant without an entry door": {[]refGrant{of("m", "membership", 0, "a"), of("q", "permit", 800, "b")}, nil, 500, []string{"a"}, []string{"a"}, vocab.Reason(vocab.Onsite)},
		"either of two that are credited alike":      {[]refGrant{of("m", "membership", 0, "a"), of("n", "membership", 0, "b")}, nil, 500, []string{"b", "a"}, []string{"a", "b"}, vocab.Reason(vocab.Onsite)},
		"free beats nobody's grant":                  {nil, []refWindow{window("b", "free")}, 500, []string{"a", "b"}, []string{"b"}, vocab.FreeWindow},
		"free is no reason to pass over the grant's": {[]refGrant{of("p", "permit", 900, "a")}, []refWindow{window("b", "free")}, 500, []string{"b", "a"}, []string{"a"}, vocab.Reason(vocab.Onsite)},
		"a free door that is no entry door":          {nil, []refWindow{window("b", "free")}, 500, []string{"a"}, nil, vocab.NoValidGrant},
		"closed, and no other door is tried":         {[]refGrant{of("p", "permit", 900, "a", "b")}, []refWindow{window("a", "closed")}, 500, []string{"a", "b"}, nil, vocab.ClosedWindow},
		"an entry door no more":                      {[]refGrant{of("p", "permit", 900, "a")}, nil, 500, []string{"b"}, nil, vocab.DoorOutOfScope},
		"expired":                                    {[]refGrant{of("p", "permit", 900, "a")}, nil, 900, []string{"a"}, nil, vocab.Expired},
		"not begun":                                  {[]refGrant{of("p", "permit", 900, "a")}, nil, 99, []string{"a"}, nil, vocab.NotStarted},
		"revoked":                                    {[]refGrant{revoked}, nil, 500, []string{"a"}, nil, vocab.Revoked},
		"no entry door at all":                       {[]refGrant{of("p", "permit", 900, "a")}, nil, 500, nil, nil, vocab.DoorOutOfScope},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := content{}
			for _, g := range c.grants {
				p.grant(&history.Event{Revision: 1}, g)
			}
			p.windows = []stated[[]refWindow]{{rev: 1, is: c.windows}}
			r := p.ruleCall("kim", 1, c.at, c.entries)
			slices.Sort(r.doors)
			if r.unknown || r.allow != (c.doors != nil) || r.allow && !slices.Equal(r.doors, c.doors) || !slices.Contains(r.reasons, c.reason) {
				t.Errorf("got %+v, want doors %v for %s", r, c.doors, c.reason)
			}
		})
	}
}

// TestRefusedCallsDoor: a refused call names the door that its reason belongs to, as described in docs/decisions.md.
func TestRefusedCallsDoor(t *testing.T) {
	t.Parallel()
	later := refGrant{ID: "l", Kind: "permit", PhoneHash: "kim", Doors: []string{"b"}, StartsAt: 600, EndsAt: 900}
	inside := refGrant{ID: "i", Kind: "membership", PhoneHash: "kim", Doors: []string{"in"}}
	revoked := refGrant{ID: "r", Kind: "permit", PhoneHash: "kim", Doors: []string{"a"}, EndsAt: 900, Revoked: true}
	valid := refGrant{ID: "v", Kind: "permit", PhoneHash: "kim", Doors: []string{"b"}, EndsAt: 900}
	for name, c := range map[string]struct {
		grants []refGrant
		closed string
		reason vocab.Reason
		doors  []string // that fit
	}{
		"not begun":                          {[]refGrant{revoked, later}, "", vocab.NotStarted, []string{"", "b"}},
		"not begun, the revoked one closed":  {[]refGrant{revoked, later}, "a", vocab.ClosedWindow, nil},
		"not begun and closed":               {[]refGrant{revoked, later}, "b", vocab.ClosedWindow, []string{"b"}},
		"inside":                             {[]refGrant{revoked, inside}, "", vocab.DoorOutOfScope, []string{""}},
		"inside, the revoked one closed":     {[]refGrant{revoked, inside}, "a", vocab.ClosedWindow, nil},
		"valid and closed":                   {[]refGrant{revoked, valid}, "b", vocab.ClosedWindow, []string{"b"}},
		"nobody":                             {nil, "", vocab.NoValidGrant, []string{""}},
		"revoked, perhaps gone":              {nil, "", vocab.Revoked, []string{"", "a", "b"}},
		"revoked, perhaps gone, some closed": {nil, "a", vocab.ClosedWindow, []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := content{windows: []stated[[]refWindow]{{rev: 1}}}
			for _, g := range c.grants {
				p.grant(&history.Event{Revision: 1}, g)
			}
			if c.closed != "" {
				p.windows[0].is = []refWindow{{DoorID: c.closed, Ref: "always", Mode: "closed"}}
			}
			d := deciding{reason: c.reason, rulings: []ruling{p.ruleCall("kim", 1, 500, []string{"a", "b"})}}
			for _, door := range []string{"", "a", "b"} {
				if d.door = door; d.elsewhere() == slices.Contains(c.doors, door) {
					t.Errorf("door %q: elsewhere %t, want it exactly for others than %q", door, d.elsewhere(), c.doors)
				}
			}
		})
	}
}
