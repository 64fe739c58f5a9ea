package store

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/server/grant"
)

// Whatever was registered, revoked or deleted in between, a list's total equals its number of rows.
func TestTotals(t *testing.T) {
	t.Parallel()
	clk := clock.NewVirtual(epoch, nil)
	clk.Freeze()
	s := must.Get(Open(t.TempDir(), Options{Clock: clk}))(t)
	t.Cleanup(func() { _ = s.Close() })
	must.Get(s.Seed(testWorld(), pepper))(t)
	draw := rand.New(rand.NewPCG(1, 2))
	forgotten := 0
	for i := range 300 {
		var err error
		switch draw.IntN(4) {
		case 0, 1:
			err = s.write(func(tx *Tx) error {
				g := permit(fmt.Sprint("pmt_t", i), tx.Now, tx.Now.Add(time.Duration(draw.IntN(48))*time.Hour))
				g.ExternalRef = g.ID
				if i%3 == 0 {
					g.Kind = grant.Membership
				}
				return tx.putGrant(&g, nil)
			})
		case 2:
			if err = clk.Advance(clk.Now().Add(12 * time.Hour)); err == nil {
				_, err = s.Leave(100)
			}
		case 3:
			var n int
			n, err = s.ForgetGrants(10*24*time.Hour, 2)
			forgotten += n
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range []string{access.KindPermit, grant.Membership} {
			var want int
			must.OK(t, s.reading.QueryRow("SELECT COUNT(*) FROM grants WHERE place_id = 'plc_a' AND kind = ?", kind).Scan(&want))
			list, total, err := s.ListGrants("plc_a", kind, grant.ListQuery{Limit: 1})
			if err != nil || total != want || len(list) != min(want, 1) {
				t.Fatalf("step %d, %s: %d of %d, %v; want %d of %d", i, kind, len(list), total, err, min(want, 1), want)
			}
		}
	}
	if forgotten < 20 {
		t.Errorf("%d grants were forgotten meanwhile, want some dozens", forgotten)
	}
}
