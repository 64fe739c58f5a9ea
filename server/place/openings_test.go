package place_test

import (
	"testing"
	"testing/synctest"

	"github.com/doorlab/doorlab/server/place"
)

func TestOpenings(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var o place.Openings
		first, second := o.Begin("plc_a"), o.Begin("plc_a")
		elsewhere := o.Begin("plc_b")
		defer elsewhere()
		waited := make(chan struct{})
		go func() { o.Wait("plc_a"); close(waited) }()
		synctest.Wait()
		later := o.Begin("plc_a") // sees what is committed already
		defer later()
		over := func() bool {
			synctest.Wait()
			select {
			case <-waited:
				return true
			default:
				return false
			}
		}
		if over() {
			t.Error("returned with two openings in progress")
		}
		first()
		first() // a second call does nothing
		if over() {
			t.Error("returned with one opening in progress")
		}
		second()
		if !over() {
			t.Error("still waiting, want only those that began before to count")
		}
		o.Wait("plc_none")
	})
	var none *place.Openings
	none.Begin("plc_a")()
	none.Wait("plc_a")
}
