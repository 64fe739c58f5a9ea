package store

import (
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/id"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/server/command"
	"github.com/doorlab/doorlab/server/record"
)

// opened is a command on dor_1 that the board has reported.
func opened(n int, s *Store) command.Settlement {
	in := intent("cmd_"+strconv.Itoa(n), "key-"+strconv.Itoa(n))
	in.RequestedAt = s.clk.Now()
	return command.Settlement{Intent: in, Outcome: vocab.Reported, ReportedAt: s.clk.Now(), Status: 200, Body: []byte("ok")}
}

// twoKinds is a store with six commands' openings, whose records are also events, and six on-site entries, which have
// separate events, some in the same millisecond.
func twoKinds(t *testing.T) *Store {
	t.Helper()
	clk := clock.NewVirtual(epoch, nil)
	clk.Freeze()
	s := must.Get(Open(t.TempDir(), Options{Clock: clk, Phones: []byte("phones")}))(t)
	t.Cleanup(func() { _ = s.Close() })
	must.Get(s.Seed(testWorld(), pepper))(t)
	later := func() {
		must.OK(t, clk.Advance(clk.Now().Add(time.Second)))
	}
	for i := range 6 {
		later()
		st := opened(i, s)
		claim(t, s.Commands(), st.Intent, epoch.Add(-time.Hour))
		must.OK(t, s.Commands().Settle(st))
		if i%2 == 0 {
			later()
		}
		must.OK(t, s.KeepRecords(func(tx record.Tx, now time.Time) error {
			r := record.Record{PlaceID: "plc_a", DoorID: "dor_2", Result: vocab.Opened, Reason: "onsite", Method: "onsite"}
			if i == 5 {
				r.Result, r.Reason = vocab.Denied, "no_valid_grant"
			}
			_, err := record.Keep(tx, r, now)
			return err
		}))
	}
	return s
}

// TestEventsOfBothKinds: record-based and separate events form one list, whatever the query and wherever a page ends.
func TestEventsOfBothKinds(t *testing.T) {
	t.Parallel()
	s := twoKinds(t)
	all := record.EventQuery{From: epoch, To: epoch.Add(time.Hour), Limit: 100}
	ask := func(q record.EventQuery) (ids []string, total int) {
		list, total, err := s.Events("plc_a", q)
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range list {
			if !strings.HasPrefix(e.ID, id.Event) || !strings.HasPrefix(e.RecordID, id.Record) || e.PlaceID != "plc_a" || e.RecordedAt.IsZero() || e.DoorName == "" {
				t.Errorf("event %+v, want one with ids, place, door and time", e)
			}
			if i > 0 && e.RecordedAt.After(list[i-1].RecordedAt) {
				t.Errorf("%s at %s is listed after %s, want the newest first", e.ID, e.RecordedAt, list[i-1].RecordedAt)
			}
			if i > 0 && e.RecordedAt.Equal(list[i-1].RecordedAt) && e.ID > list[i-1].ID {
				t.Errorf("%s is listed after %s of the same millisecond, want the later id first", e.ID, list[i-1].ID)
			}
			ids = append(ids, e.ID)
		}
		return ids, total
	}
	whole, total := ask(all)
	if len(whole) != 12 || total != 12 || len(slices.Compact(slices.Sorted(slices.Values(whole)))) != 12 {
		t.Fatalf("%d events, total %d, want 12 different ones: %v", len(whole), total, whole)
	}
	for size := 1; size <= 13; size++ {
		var pages []string
		for q := all; ; q.Offset += size {
			q.Limit = size
			ids, total := ask(q)
			if total != 12 {
				t.Errorf("pages of %d: total %d at offset %d, want 12", size, total, q.Offset)
			}
			if len(ids) == 0 {
				break
			}
			pages = append(pages, ids...)
		}
		if !slices.Equal(pages, whole) {
			t.Errorf("pages of %d are %v, want %v", size, pages, whole)
		}
	}
	for name, c := range map[string]struct {
		narrow func(*record.EventQuery)
		want   int
	}{
		"door 1":           {func(q *record.EventQuery) { q.DoorIDs = []string{"dor_1"} }, 6},
		"door 2":           {func(q *record.EventQuery) { q.DoorIDs = []string{"dor_2"} }, 6},
		"denied":           {func(q *record.EventQuery) { q.Results = []string{"denied"} }, 1},
		"opened":           {func(q *record.EventQuery) { q.Results = []string{"opened"} }, 11},
		"openings, door 1": {func(q *record.EventQuery) { q.Kinds, q.DoorIDs = []string{record.EntryOpened}, []string{"dor_1"} }, 6},
		"uses of permits":  {func(q *record.EventQuery) { q.Kinds = []string{record.PermitUsed} }, 0},
		"of a permit":      {func(q *record.EventQuery) { q.PermitIDs = []string{"pmt_x"} }, 0},
		"before the first": {func(q *record.EventQuery) { q.To = epoch.Add(time.Second) }, 0},
	} {
		q := all
		c.narrow(&q)
		if ids, total := ask(q); len(ids) != c.want || total != c.want {
			t.Errorf("%s: %d events, total %d, want %d", name, len(ids), total, c.want)
		}
	}
}

// TestOneCommitSeesItsRecords: what follows a settlement in the same commit finds its record, although the records of
// a commit are written together.
func TestOneCommitSeesItsRecords(t *testing.T) {
	t.Parallel()
	s := seeded(t)
	c := s.Commands()
	const n = 21 // one statement of each size
	for i := range n {
		claim(t, c, opened(i, s).Intent, epoch.Add(-time.Hour))
	}
	begun, gate := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() { _ = s.write(func(*Tx) error { close(begun); <-gate; return nil }) })
	<-begun
	queue := func(write func() error) {
		had := len(s.jobs)
		all.Go(func() {
			if err := write(); err != nil {
				t.Error(err)
			}
		})
		for len(s.jobs) == had {
			runtime.Gosched()
		}
	}
	for i := range n {
		queue(func() error { return c.Settle(opened(i, s)) })
	}
	c.CountReplay("cmd_3")
	queue(func() error {
		_, err := c.Claim(opened(4, s).Intent, epoch.Add(-time.Hour)) // a repeat
		c.CountReplay("cmd_4")
		return err
	})
	queue(func() error { return c.Settle(opened(5, s)) }) // settled a second time: no effect
	queue(func() error {
		return s.KeepRecords(func(tx record.Tx, _ time.Time) error {
			_, err := tx.RecordOfCommand("cmd_6")
			return err
		})
	})
	close(gate)
	all.Wait()
	list, total, err := s.Records("plc_a", epoch.Add(-time.Hour), 100, 0)
	if err != nil || total != n {
		t.Fatalf("%d records, %v, want %d", total, err, n)
	}
	for _, r := range list {
		want := int64(0)
		if r.CommandID == "cmd_3" || r.CommandID == "cmd_4" {
			want = 1
		}
		if r.Replays != want || r.DoorName != "Front" || r.Result != vocab.Opened {
			t.Errorf("record %+v, want %d replays of an opening of Front", r, want)
		}
	}
	if _, events, err := s.Events("plc_a", record.EventQuery{From: epoch.Add(-time.Hour), To: epoch.Add(time.Hour), Limit: 5}); err != nil || events != n {
		t.Errorf("%d events, %v, want %d", events, err, n)
	}
}
