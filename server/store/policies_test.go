package store

import (
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/server/place"
)

// TestDigestOfWindows: the stored digest follows windows of each ref as they are set, replaced and removed.
func TestDigestOfWindows(t *testing.T) {
	t.Parallel()
	s := seeded(t)
	window := func(id, ref, mode string) access.Window {
		return access.Window{ID: id, DoorID: "dor_1", Ref: ref, Mode: mode, CreatedAt: epoch.UnixMilli()}
	}
	custom := window("pol_3", "custom", "free")
	custom.StartsAt, custom.EndsAt = epoch.UnixMilli(), epoch.Add(time.Hour).UnixMilli()
	was := digestOf(t, s)
	for _, step := range []struct {
		name      string
		put, drop []access.Window
	}{
		{"always", []access.Window{window("pol_1", "always", "auth")}, nil},
		{"custom", []access.Window{custom}, nil},
		{"replaced", []access.Window{window("pol_2", "always", "closed")}, []access.Window{window("pol_1", "always", "auth")}},
		{"removed", nil, []access.Window{custom}},
	} {
		must.OK(t, s.ChangePlace(func(tx place.Tx) error { return tx.SavePolicies("policy", "plc_a", step.put, step.drop) }))
		now := digestOf(t, s) // compares it with the content
		if now == was {
			t.Errorf("%s: the digest stayed %s, want another", step.name, now)
		}
		was = now
	}
}
