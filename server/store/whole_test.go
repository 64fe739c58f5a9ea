package store

import (
	"errors"
	"runtime"
	"testing"

	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/server/record"
)

// A write without a savepoint takes its whole commit with it: nothing half-way stays, and nobody is told that it does.
func TestWholeWriteFailsWithItsCommit(t *testing.T) {
	t.Parallel()
	s := seeded(t)
	mine := errors.New("mine")
	hold, held := make(chan struct{}), make(chan struct{})
	go func() {
		_ = s.write(func(*Tx) error { close(held); <-hold; return nil }) // the next two share a commit
	}()
	<-held
	neighbour, failing := make(chan error, 1), make(chan error, 1)
	go func() { neighbour <- s.write(func(tx *Tx) error { return tx.setMeta("beside", "1") }) }()
	go func() {
		failing <- s.writeWhole(func(tx *Tx) error {
			if err := tx.setMeta("half", "1"); err != nil {
				return err
			}
			return mine
		})
	}()
	for len(s.jobs) < 2 { // both are queued behind the first
		runtime.Gosched()
	}
	close(hold)
	if err := <-failing; !errors.Is(err, ErrUnavailable) || !errors.Is(err, mine) {
		t.Errorf("the failing write got %v, want ErrUnavailable because of its own error", err)
	}
	if err := <-neighbour; !errors.Is(err, ErrUnavailable) {
		t.Errorf("its neighbour got %v, want ErrUnavailable", err)
	}
	for _, name := range []string{"half", "beside"} {
		if v, err := s.Meta(name); v != "" || err != nil {
			t.Errorf("%s left %q, %v behind, want nothing", name, v, err)
		}
	}
}

// A door that is renamed has its new name in the next record, and the old one in those before.
func TestRecordNamesARenamedDoor(t *testing.T) {
	t.Parallel()
	s := seeded(t)
	keep := func() {
		t.Helper()
		err := s.write(func(tx *Tx) error {
			_, err := record.Keep(tx, record.Record{PlaceID: "plc_a", DoorID: "dor_1", Result: vocab.Opened, Method: "app"}, tx.Now)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	keep()
	w := testWorld()
	w.Places[0].Boards[0].Doors[0].Name = "Main"
	if _, err := s.Seed(w, pepper); err != nil {
		t.Fatal(err)
	}
	keep()
	list, _, err := s.Records("plc_a", epoch.Add(-1), 10, 0)
	if err != nil || len(list) != 2 {
		t.Fatalf("%d records, %v, want 2", len(list), err)
	}
	names := map[string]int{}
	for _, r := range list {
		names[r.DoorName]++
	}
	if names["Front"] != 1 || names["Main"] != 1 {
		t.Errorf("the records name the door %v, want Front once and Main once", names)
	}
}
