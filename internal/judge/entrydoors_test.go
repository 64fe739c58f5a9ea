package judge

import (
	"testing"

	"github.com/doorlab/doorlab/internal/history"
)

// TestANewPermitsDoors: a new permit that names no doors opens exactly the place's entry doors as they are at the time.
func TestANewPermitsDoors(t *testing.T) {
	t.Parallel()
	d1, d2 := doorOf("brd_1", 1), doorOf("brd_1", 2)
	for name, c := range map[string]struct {
		had, found bool     // given before, or by a history that begins in the middle
		got        []string // its doors in the content
		bad        bool
	}{
		"the entry door":               {got: []string{d1}},
		"another one, too":             {got: []string{d1, d2}, bad: true},
		"the one that comes meanwhile": {got: []string{d2}},
		"none of them":                 {got: []string{doorOf("brd_2", 1)}, bad: true},
		"those that it had":            {had: true, got: []string{d1, d2}},
		"of an unknown past":           {found: true, got: []string{d1, d2}},
	} {
		h := offlineBoard()
		h.addBoard("plc_a", "brd_2")
		h.entries("plc_a", d1)
		if c.had {
			h.change("plc_a", "register", grant("pmt_1", "kim", false, c.got...))
		}
		if c.found {
			h.emit(history.Event{Kind: history.Begun})
		}
		g := grant("pmt_1", "kim", false, c.got...)
		h.did("plc_a", "POST", createRoute, 200, history.CallText{In: fields{"phone": "kim", "startsAt": rfc(g.StartsAt), "endsAt": rfc(g.EndsAt)},
			Out: fields{"permitId": "pmt_1"}}, func() {
			h.change("plc_a", "register", g)
			if name == "the one that comes meanwhile" {
				h.entries("plc_a", d2)
			}
		})
		if v := perm6(NewView(h.events)); (v.Status == Fail) != c.bad {
			t.Errorf("%s: %s, want a breach: %v", name, v, c.bad)
		}
	}
}
