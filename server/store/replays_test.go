package store

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/server/command"
)

// A command's remembered answer is what its key returns: nothing before the commit, nothing for another place, and
// nothing when the key is too old.
func TestAnswered(t *testing.T) {
	t.Parallel()
	s := seeded(t)
	c, long := s.Commands(), epoch.Add(-command.Retention)
	knows := func(when, placeID, key string, kept time.Time, want string) {
		t.Helper()
		meaning, a, ok := c.Answered(placeID, key, kept)
		if string(a.Body) != want || ok != (want != "") || ok && (meaning != "m" || a.Status != 200 || a.Result.CommandID != "cmd_1" || a.Result.Outcome != vocab.Reported) {
			t.Errorf("%s: %q %+v %t, want %q", when, meaning, a, ok, want)
		}
	}
	claim(t, c, intent("cmd_1", "k"), long)
	knows("claimed", "plc_a", "k", long, "")
	settle := func(body string) {
		t.Helper()
		st := command.Settlement{Intent: intent("cmd_1", "k"), Outcome: vocab.Reported, ReportedAt: epoch, Status: 200, Body: []byte(body)}
		must.OK(t, c.Settle(st))
	}
	settle("ok")
	knows("settled", "plc_a", "k", long, "ok")
	settle("something else") // after a commit with an unknown result: the first one counts
	knows("settled again", "plc_a", "k", long, "ok")
	knows("another place", "plc_b", "k", long, "")
	knows("another key", "plc_a", "K", long, "")
	knows("as old as it may be", "plc_a", "k", epoch, "")
	if p := claim(t, c, intent("cmd_2", "k"), epoch); p != nil {
		t.Fatalf("the key is too old, and taken: got %+v, want none", p)
	}
	knows("claimed by the next one, which asks for less time", "plc_a", "k", epoch, "")

	none := intent("cmd_3", "")
	claim(t, c, none, long)
	must.OK(t, c.Settle(command.Settlement{Intent: none, Outcome: vocab.Reported, ReportedAt: epoch, Status: 200, Body: []byte("ok")}))
	knows("a command without a key", "plc_a", "", long, "")
}

// What had to be looked up in the ledger once is remembered from then on.
func TestAnsweredAfterARestart(t *testing.T) {
	t.Parallel()
	dir, long := t.TempDir(), epoch.Add(-command.Retention)
	s := openTest(t, dir)
	must.Get(s.Seed(testWorld(), pepper))(t)
	claim(t, s.Commands(), intent("cmd_1", "k"), long)
	st := command.Settlement{Intent: intent("cmd_1", "k"), Outcome: vocab.Refused, DeviceCode: "busy", ReportedAt: epoch, Status: 502, Body: []byte("busy")}
	must.OK(t, s.Commands().Settle(st))
	_, before, _ := s.Commands().Answered("plc_a", "k", long)
	_ = s.Close()
	s = openTest(t, dir)
	c := s.Commands()
	if _, a, ok := c.Answered("plc_a", "k", long); ok {
		t.Errorf("right after the start: %+v, want nothing", a)
	}
	claim(t, c, intent("cmd_2", "k"), long)
	if _, a, ok := c.Answered("plc_a", "k", long); !ok || fmt.Sprint(a) != fmt.Sprint(before) {
		t.Errorf("after it was looked up: %+v %t, want %+v", a, ok, before)
	}
}

// replaysOf returns the replays in the record of cmd_1, read directly from the database.
func replaysOf(t *testing.T, s *Store) (n int64) {
	t.Helper()
	must.OK(t, s.reading.QueryRow("SELECT replays FROM entry_records WHERE command_id = 'cmd_1'").Scan(&n))
	return n
}

// Replays are counted in batches: a moment later, before the record is read, and when the store is closed. What can't
// be written is kept for later.
func TestReplaysAreCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir, commits := t.TempDir(), 0
		open := func() *Store {
			s := must.Get(Open(dir, Options{Committed: func(int, time.Duration) { commits++ }}))(t)
			return s
		}
		s := open()
		must.Get(s.Seed(testWorld(), pepper))(t)
		c := s.Commands()
		claim(t, c, intent("cmd_1", "k"), epoch.Add(-time.Hour))
		must.OK(t, c.Settle(command.Settlement{Intent: intent("cmd_1", "k"), Outcome: vocab.Reported, ReportedAt: epoch, Status: 200}))
		want := int64(0)
		more := func(n int64) {
			want += n
			for range n {
				c.CountReplay("cmd_1")
			}
		}
		check := func(when string) {
			t.Helper()
			if got := replaysOf(t, s); got != want {
				t.Errorf("%s: %d replays in the database, want %d", when, got, want)
			}
		}
		synctest.Wait()
		commits = 0
		more(5)
		time.Sleep(replaysWait)
		synctest.Wait()
		check("after a while")
		if commits != 1 {
			t.Errorf("%d commits for five replays, want 1", commits)
		}
		more(3)
		if list, _, err := s.Records("plc_a", time.Time{}, 10, 0); err != nil || len(list) != 1 || list[0].Replays != want {
			t.Errorf("read at once: %+v, %v, want %d replays", list, err, want)
		}
		free := fill(t, s)
		more(2)
		if err := grow(s); err == nil {
			t.Error("a full disk took a write")
		}
		more(1)
		free()
		if err := grow(s); err != nil {
			t.Error(err)
		}
		check("once the disk takes writes again")
		more(4)
		_ = s.Close()
		s = open()
		check("closed and opened again")
		_ = s.Close()
	})
}

// TestReplaysBeforeTheirRecord: a 504 can be repeated before a slow disk has taken its record; the record counts it all
// the same. What never gets a record is forgotten.
func TestReplaysBeforeTheirRecord(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := must.Get(Open(t.TempDir(), Options{}))(t)
		defer func() { _ = s.Close() }()
		must.Get(s.Seed(testWorld(), pepper))(t)
		c := s.Commands()
		claim(t, c, intent("cmd_1", "k"), epoch.Add(-time.Hour))
		c.CountReplay("cmd_1")
		c.CountReplay("cmd_never")
		time.Sleep(10 * time.Second)
		must.OK(t, c.Settle(command.Settlement{Intent: intent("cmd_1", "k"), Outcome: vocab.NoResponse, Status: 504}))
		time.Sleep(2 * replaysWait)
		synctest.Wait()
		if got := replaysOf(t, s); got != 1 {
			t.Errorf("%d replays in the database, want 1", got)
		}
		if !s.replays.pending() {
			t.Error("the other command's record may still come: want its replay kept")
		}
		time.Sleep(replaysEarly)
		synctest.Wait()
		if s.replays.pending() {
			t.Error("a replay of a command without a record is still kept, want it forgotten")
		}
	})
}
