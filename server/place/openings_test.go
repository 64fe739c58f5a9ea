package place_test

import (
	"testing"
	"testing/synctest"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/server/place"
	"github.com/doorlab/doorlab/server/record"
)

// oneDoor is a store with one door.
type oneDoor struct {
	place.Store
	door place.Door
}

func (s *oneDoor) ChangePlace(fn func(tx place.Tx) error) error { return fn(doorTx{s: s}) }
func (s *oneDoor) Door(string) (place.Door, error)              { return s.door, nil }

type doorTx struct {
	place.Tx
	s *oneDoor
}

func (t doorTx) Door(string) (place.Door, error) { return t.s.door, nil }
func (t doorTx) SaveDoor(d place.Door) error     { t.s.door = d; return nil }
func (doorTx) InsertAudit(record.Audit) error    { return nil }

// TestPatchDoorWaitsForOpenings: a call that may have read the door as an entry door has sent its command by the time
// the door's change is answered.
func TestPatchDoorWaitsForOpenings(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var o place.Openings
		end := o.Begin("plc_a")
		s := place.New(place.Config{Store: &oneDoor{door: place.Door{ID: "dor_1", PlaceID: "plc_a", Entry: true}}, Openings: &o})
		ended := false
		go func() {
			synctest.Wait() // whatever PatchDoor can do by now, it has done
			ended = true
			end()
		}()
		d := must.Get(s.PatchDoor("dor_1", place.DoorPatch{Entry: new(false)}))(t)
		if !ended || d.Entry {
			t.Errorf("got %+v, after the opening (%t), want no entry door, after it", d, ended)
		}
	})
}

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
