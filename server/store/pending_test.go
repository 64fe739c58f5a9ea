package store

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/server/record"
)

// A period is complete when it is read: what a commit in progress dates before its end is in it, however long the
// commit takes, because a poller won't ask for that period again.
func TestAPeriodWaitsForWhatBelongsToIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := must.Get(Open(t.TempDir(), Options{}))(t)
		defer func() { must.OK(t, s.Close()) }()
		must.Get(s.Seed(testWorld(), pepper))(t)
		began, release := time.Now(), make(chan struct{})
		ends := sync.OnceFunc(func() { close(release) })
		defer ends()
		wrote := make(chan error, 1)
		go func() {
			wrote <- s.write(func(tx *Tx) error {
				<-release // the disk takes its time
				return tx.InsertEvent(record.Event{ID: "evt_1", Kind: record.EntryOpened, PlaceID: "plc_a", RecordID: "rec_1", OccurredAt: tx.Now, RecordedAt: tx.Now})
			})
		}()
		type answer struct {
			ids []string
			err error
		}
		read := func(to time.Time) chan answer {
			got := make(chan answer, 1)
			go func() {
				list, _, err := s.Events("plc_a", record.EventQuery{From: began.Add(-time.Hour), To: to, Limit: 10})
				a := answer{err: err}
				for _, e := range list {
					a.ids = append(a.ids, e.ID)
				}
				got <- a
			}()
			synctest.Wait()
			return got
		}
		synctest.Wait()
		select {
		case a := <-read(began):
			if a.err != nil || len(a.ids) > 0 {
				t.Errorf("until the commit began: got %v, %v, want nothing", a.ids, a.err)
			}
		default:
			t.Error("a period that ended before the commit began waits for it, want its events at once")
		}
		time.Sleep(2 * time.Second) // the bubble's time
		until := read(time.Now())
		select {
		case a := <-until:
			t.Fatalf("until now: got %v, %v during the commit, want to wait for it", a.ids, a.err)
		default:
		}
		late := read(time.Now())
		time.Sleep(writeWait)
		if a := <-late; !errors.Is(a.err, ErrUnavailable) {
			t.Errorf("after %s: got %v, %v, want ErrUnavailable", writeWait, a.ids, a.err)
		}
		<-until
		until = read(time.Now())
		ends()
		if a := <-until; a.err != nil || !slices.Equal(a.ids, []string{"evt_1"}) {
			t.Errorf("until now: got %v, %v after the commit, want the event", a.ids, a.err)
		}
		<-wrote // its caller stopped waiting after writeWait
		if a := <-read(time.Now()); a.err != nil || len(a.ids) != 1 {
			t.Errorf("later: got %v, %v, want the event", a.ids, a.err)
		}
	})
}
