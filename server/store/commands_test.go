package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/device"
)

func intent(id, key string) device.Intent {
	return device.Intent{CommandID: id, PlaceID: "plc_a", Key: key, Meaning: "m", DoorID: "dor_1", BoardID: "brd_a", Command: "open",
		Method: "api", ActorID: "api:key_a", ActorLabel: "partner", EntryReason: "api", RequestedAt: epoch, Status: 504, Body: []byte("unknown")}
}

func claim(t *testing.T, c Commands, in device.Intent, kept time.Time) *device.Prior {
	t.Helper()
	p, err := c.Claim(in, kept)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestClaimAndSettle(t *testing.T) {
	t.Parallel()
	s := seeded(t)
	c := s.Commands()
	long := epoch.Add(-device.Retention)
	if p := claim(t, c, intent("cmd_1", "k"), long); p != nil {
		t.Fatalf("fresh key: %+v", p)
	}
	if p := claim(t, c, intent("cmd_2", "k"), long); p == nil || p.Settled || p.Intent.CommandID != "cmd_1" || string(p.Intent.Body) != "unknown" {
		t.Fatalf("unsettled: %+v", p)
	}
	st := device.Settlement{Intent: intent("cmd_1", "k"), Outcome: device.Reported, ReportedAt: epoch.Add(time.Second), Status: 200, Body: []byte("ok")}
	for range 2 { // the second is a retry after a commit of unknown result
		if err := c.Settle(st); err != nil {
			t.Fatal(err)
		}
	}
	p := claim(t, c, intent("cmd_2", "k"), long)
	if p == nil || !p.Settled || string(p.Answer.Body) != "ok" || p.Answer.Status != 200 || p.Answer.Result.Outcome != device.Reported {
		t.Fatalf("settled: %+v", p)
	}
	other := intent("cmd_3", "k")
	other.Meaning = "n"
	if p := claim(t, c, other, long); p == nil || p.Meaning != "m" {
		t.Fatalf("another request: %+v", p)
	}
	recs, total, err := s.Records("plc_a", epoch.Add(-time.Hour), 10, 0)
	if err != nil || total != 1 || recs[0].Result != Opened || recs[0].Replays != 1 || recs[0].CommandID != "cmd_1" {
		t.Fatalf("%d records %+v, %v", total, recs, err)
	}
	if p := claim(t, c, intent("cmd_4", "k"), epoch); p != nil { // exactly as old as it may be: absent
		t.Fatalf("after the retention: %+v", p)
	}
	if list, err := c.Unsettled(); err != nil || len(list) != 1 || list[0].CommandID != "cmd_4" {
		t.Fatalf("unsettled %+v, %v", list, err)
	}
	if n, err := c.Forget(epoch.Add(time.Hour), 100); n != 1 || err != nil {
		t.Errorf("forgot %d, %v; the unsettled one must stay", n, err)
	}
}

func TestOneClaimWins(t *testing.T) {
	t.Parallel()
	c := seeded(t).Commands()
	var wg sync.WaitGroup
	var mu sync.Mutex
	won := 0
	for i := range 50 {
		wg.Go(func() {
			p, err := c.Claim(intent(fmt.Sprint("cmd_", i), "k"), epoch.Add(-time.Hour))
			if err != nil {
				t.Error(err)
			}
			if p == nil {
				mu.Lock()
				won++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if won != 1 {
		t.Errorf("%d claims won", won)
	}
}

func TestLate(t *testing.T) {
	t.Parallel()
	s := seeded(t)
	c := s.Commands()
	for i, outcome := range []string{device.NoResponse, device.Reported, device.Offline} {
		in := intent(fmt.Sprint("cmd_", i), "")
		claim(t, c, in, epoch)
		if err := c.Settle(device.Settlement{Intent: in, Outcome: outcome}); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		id, board string
		want      device.Late
	}{
		{"cmd_0", "brd_x", device.LateForeign}, {"cmd_0", "brd_a", device.LateSettled}, {"cmd_0", "brd_a", device.LateKnown},
		{"cmd_1", "brd_a", device.LateKnown}, {"cmd_2", "brd_a", device.LateUnknown}, {"cmd_9", "brd_a", device.LateUnknown},
	} {
		if got, err := c.Late(device.LateReport{CommandID: tc.id, BoardID: tc.board, ReportedAt: epoch}); got != tc.want || err != nil {
			t.Errorf("%s by %s: %v, %v, want %v", tc.id, tc.board, got, err, tc.want)
		}
	}
}

func TestDoorOfTheLedger(t *testing.T) {
	t.Parallel()
	c := seeded(t).Commands()
	if d, err := c.Door("dor_2"); err != nil || d != (device.Door{DoorID: "dor_2", PlaceID: "plc_a", BoardID: "brd_a", Channel: 2}) {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := c.Door("dor_9"); !errors.Is(err, device.ErrNoDoor) {
		t.Errorf("unknown: %v", err)
	}
}

func TestBoardStates(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "d")
	s := openTest(t, dir)
	if err := s.Seed(testWorld()); err != nil {
		t.Fatal(err)
	}
	list, err := s.BoardStates()
	if err != nil || len(list) != 1 || !list[0].FirstSeenAt.IsZero() || len(list[0].Doors) != 2 || list[0].Password != "pw" {
		t.Fatalf("%+v, %v", list, err)
	}
	b := list[0]
	b.FirstSeenAt, b.Since, b.LastSeenAt, b.Online, b.AppliedRevision, b.Digest = epoch, epoch, epoch, true, 3, "d"
	b.Netloss = &wire.Netloss{GraceSec: 60, Channels: map[int]string{1: "hold"}, Version: 2}
	b.Standings = map[int]wire.Standing{1: {Channel: 1, State: "locked"}}
	for range 2 {
		if err := s.SaveBoardStates([]device.BoardState{b}); err != nil {
			t.Fatal(err)
		}
	}
	lives := []int64{}
	for range 2 {
		n, err := s.NextLife()
		if err != nil {
			t.Fatal(err)
		}
		lives = append(lives, n)
		_ = s.Close()
		s = openTest(t, dir)
	}
	list, err = s.BoardStates()
	got := list[0]
	if err != nil || !got.Online || got.AppliedRevision != 3 || got.Netloss.Channels[1] != "hold" || got.Standings[1].State != "locked" || !got.FirstSeenAt.Equal(epoch) {
		t.Errorf("%+v, %v", got, err)
	}
	if fmt.Sprint(lives) != "[1 2]" {
		t.Errorf("lives %v", lives)
	}
}

func TestBoardRecordsOnce(t *testing.T) {
	t.Parallel()
	s := seeded(t)
	b := device.BoardState{BoardID: "brd_a", PlaceID: "plc_a"}
	gs, err := s.GrantsOf("plc_a", "01011112222")
	if err != nil || len(gs) != 1 {
		t.Fatal(gs, err)
	}
	ms := epoch.Add(-48 * time.Hour).UnixMilli()
	recs := []wire.Record{
		{Seq: 1, DoorID: "dor_1", At: ms, Result: Opened, Reason: "onsite", GrantID: gs[0].ID},
		{Seq: 2, DoorID: "dor_1", At: ms, Result: Denied, Reason: "no_valid_grant", PhoneTail: "9876"},
		{Seq: 3, DoorID: "dor_1", At: ms, Result: Denied, Reason: "link_invalid"},
	}
	for _, want := range []int{3, 0} {
		if n, err := s.InsertBoardRecords(b, recs); n != want || err != nil {
			t.Errorf("%d new, %v, want %d", n, err, want)
		}
	}
	recs[0].At++ // a board that lost its flash counts from 1 again
	if n, err := s.InsertBoardRecords(b, recs[:1]); n != 1 || err != nil {
		t.Errorf("after a wipe: %d new, %v", n, err)
	}
	list, total, err := s.Records("plc_a", epoch.Add(-time.Hour), 10, 0)
	if err != nil || total != 4 {
		t.Fatal(total, err)
	}
	got := map[string]int{}
	for _, r := range list {
		got[r.Actor+" "+r.ActorLabel+" "+r.Source+" "+r.Method+" "+r.OccurredAt.Sub(epoch).Truncate(time.Second).String()]++
	}
	want := map[string]int{"guest:*2222 010-****-2222 board onsite -48h0m0s": 1, "guest:*2222 010-****-2222 board onsite -47h59m59s": 1,
		"guest:*9876 9876 board onsite -48h0m0s": 1, "guest:*---- ---- board onsite -48h0m0s": 1}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}
