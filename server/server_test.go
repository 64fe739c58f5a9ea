package server

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/place"
	"github.com/doorlab/doorlab/server/record"
)

// Changes that take away a right wait for the openings in progress, see PERM-4. This only works if all services share
// the same ones.
func TestChangesWaitForOpenings(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := must.Get(New(Config{DataDir: t.TempDir(), Clock: clock.Real{}, LinkURL: "http://link", World: &world.World{Places: []world.Place{{
			ID: "plc_a", Name: "A", Kind: world.Test,
			Boards: []world.Board{{ID: "brd_1", Password: "sixteen letters.", Doors: []world.Door{{ID: "dor_1", Name: "Front", Channel: 1}}}},
		}}}}))(t)
		defer func() {
			if err := s.Stop(); err != nil {
				t.Error(err)
			}
		}()
		ref, phone, from, to := "r", "01012345678", time.Now(), time.Now().Add(time.Hour)
		always, free := "always", "free"
		by := record.By{PlaceID: "plc_a"}
		must.Get(s.grants.Register(by, grant.RegisterRequest{ExternalRef: &ref, Phone: &phone, StartsAt: &from, EndsAt: &to}))(t)
		for name, change := range map[string]func() error{
			"revocation": func() error {
				_, err := s.grants.Revoke(by, grant.RevokeRequest{ExternalRef: &ref})
				return err
			},
			"window": func() error {
				_, err := s.places.SetPolicy(record.By{PlaceID: "plc_a"}, "dor_1", place.PolicyRequest{Ref: &always, Mode: &free})
				return err
			},
		} {
			end := s.openings.Begin("plc_a")
			answered := make(chan error, 1)
			go func() { answered <- change() }()
			synctest.Wait()
			if len(answered) > 0 {
				t.Errorf("%s: answered while an opening was in progress", name)
			}
			end()
			if err := <-answered; err != nil {
				t.Errorf("%s: %v, want it answered once the opening has ended", name, err)
			}
		}
	})
}
