package store

import (
	"errors"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/record"
)

// A write without a savepoint fails together with its whole commit: nothing is left half-done, and nobody is told
// that it succeeded.
func TestWriteWithoutSavepointFailsWithItsCommit(t *testing.T) {
	t.Parallel()
	s := seeded(t)
	mine := errors.New("mine")
	hold, held := make(chan struct{}), make(chan struct{})
	go func() {
		_ = s.write(func(*Tx) error { close(held); <-hold; return nil }) // so that the next two share a commit
	}()
	<-held
	neighbour, failing := make(chan error, 1), make(chan error, 1)
	go func() { neighbour <- s.write(func(tx *Tx) error { return tx.setMeta("beside", "1") }) }()
	go func() {
		failing <- s.writeTogether(func(tx *Tx) error {
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
		if v, err := s.meta(name); v != "" || err != nil {
			t.Errorf("%s left %q, %v behind, want nothing", name, v, err)
		}
	}
}

// oneCommit runs writes in order in one commit.
func oneCommit(t *testing.T, s *Store, writes ...func() error) []error {
	t.Helper()
	hold, held := make(chan struct{}), make(chan struct{})
	go func() { _ = s.write(func(*Tx) error { close(held); <-hold; return nil }) }()
	<-held
	var done []chan error
	for i, w := range writes {
		c := make(chan error, 1)
		done = append(done, c)
		go func() { c <- w() }()
		for len(s.jobs) <= i { // queued behind those before
			runtime.Gosched()
		}
	}
	close(hold)
	errs := make([]error, 0, len(writes))
	for _, c := range done {
		errs = append(errs, <-c)
	}
	return errs
}

// A write whose rule refuses before anything was written, or panics, affects no other write.
func TestWriteWithoutSavepointIsRefusedAlone(t *testing.T) {
	t.Parallel()
	s := seeded(t)
	mine := errors.New("mine")
	errs := oneCommit(t, s,
		func() error { return s.writeTogether(func(tx *Tx) error { return tx.setMeta("first", "1") }) },
		func() error { return s.writeTogether(func(*Tx) error { return mine }) },
		func() (err error) {
			defer func() { err, _ = recover().(error) }()
			return s.writeTogether(func(*Tx) error { panic(mine) })
		},
		func() error { return s.writeTogether(func(tx *Tx) error { return tx.setMeta("last", "1") }) })
	for i, want := range []error{nil, mine, mine, nil} {
		if !errors.Is(errs[i], want) || errors.Is(errs[i], ErrUnavailable) {
			t.Errorf("write %d got %v, want %v", i, errs[i], want)
		}
	}
	for _, name := range []string{"first", "last"} {
		if v, err := s.meta(name); v != "1" || err != nil {
			t.Errorf("%s is %q, %v; want 1", name, v, err)
		}
	}
}

// Writes in one commit raise a place's revision one after the other. A write that is undone in between leaves no
// trace in revision or digest.
func TestRevisionsOfOneCommit(t *testing.T) {
	t.Parallel()
	s := seeded(t)
	before := must.Get(s.Revision("plc_a"))(t)
	var revs []int64
	put := func(id string, end error) func() error {
		g := permit(id, epoch, epoch.Add(time.Hour))
		return func() error {
			write := func(tx *Tx) error {
				if err := tx.putGrant(&g, nil); err != nil {
					return err
				}
				revs = append(revs, g.Rev)
				return end
			}
			if end == nil {
				return s.Change(func(tx grant.Tx) error { return write(tx.(grantTx).Tx) })
			}
			return s.write(write)
		}
	}
	mine := errors.New("mine")
	errs := oneCommit(t, s, put("pmt_1", nil), put("pmt_2", nil), put("pmt_undone", mine), put("pmt_3", nil))
	if errs[0] != nil || errs[1] != nil || !errors.Is(errs[2], mine) || errs[3] != nil {
		t.Fatalf("the writes got %v, want only the third refused", errs)
	}
	if want := []int64{before + 1, before + 2, before + 3, before + 3}; !slices.Equal(revs, want) {
		t.Errorf("revisions %v, want %v", revs, want)
	}
	digestOf(t, s)
	if rev, err := s.Revision("plc_a"); rev != before+3 || err != nil {
		t.Errorf("the place is at revision %d, %v; want %d", rev, err, before+3)
	}
}

// When a door is renamed, later records have its new name and earlier ones keep the old one.
func TestRecordNamesARenamedDoor(t *testing.T) {
	t.Parallel()
	s := seeded(t)
	keep := func() {
		t.Helper()
		must.OK(t, s.write(func(tx *Tx) error {
			_, err := record.Keep(tx, record.Record{PlaceID: "plc_a", DoorID: "dor_1", Result: vocab.Opened, Method: "app"}, tx.Now)
			return err
		}))
	}
	keep()
	w := testWorld()
	w.Places[0].Boards[0].Doors[0].Name = "Main"
	must.Get(s.Seed(w, pepper))(t)
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
