package age

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/doorlab/doorlab/internal/must"
)

// opened is a world of a single live board that nothing has happened in yet.
func opened(t *testing.T, more func(*Config)) *run {
	t.Helper()
	c := few(t, 1)
	c.Boards = 1
	if more != nil {
		more(&c)
	}
	r := divide(c).runs[0]
	must.OK(t, r.open(t.Context()))
	t.Cleanup(func() {
		must.OK(t, r.tb.Stop())
		r.crew.Close()
	})
	return r
}

// drawn is a drawing of a world.
func (r *run) drawn() *drawing {
	return &drawing{r: r, rng: rand.New(rand.NewPCG(1, 1)), from: r.clk.Now(), to: r.clk.Now().Add(r.c.Segment), at: map[int64]*moment{}}
}

// TestForgottenGrants: nobody ends a grant that the server has forgotten. Who had one gets another.
func TestForgottenGrants(t *testing.T) {
	t.Parallel()
	r := opened(t, func(c *Config) { c.Retention.Grants = 31 * aDay })
	d, p := r.drawn(), r.places[0]
	who := p.people[0]
	for range 2 {
		d.permit(p, who)()
		d.revoke(p, who)()
		d.membership(p, who)()
		d.reservation(p, who)()
		for range 3 { // the first time boards forget them, then the server
			must.OK(t, r.clk.Advance(r.clk.Now().Add(450*aDay)))
		}
		p.token = ""
		d.revoke(p, who)()
		d.endMembership(p, who)()
	}
	want := map[string]int{"permit registered": 2, "permit revoked": 2, "membership given": 2, "reservation made": 2}
	if diff := cmp.Diff(want, r.counts().Changes); diff != "" || r.broken() != nil {
		t.Errorf("trouble: %v; changes (-want +got):\n%s", r.broken(), diff)
	}
}
