package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/board"
	"github.com/doorlab/doorlab/server/command"
)

func intent(id, key string) command.Intent {
	return command.Intent{CommandID: id, Order: command.Order{PlaceID: "plc_a", Key: key, DoorID: "dor_1", Command: "open", Method: "api", ActorID: "api:key_a", ActorLabel: "partner", EntryReason: "api"},
		Meaning: "m", BoardID: "brd_a", RequestedAt: epoch, AgedAt: epoch, Status: 504, Body: []byte("unknown")}
}

func claim(t *testing.T, c Commands, in command.Intent, kept time.Time) *command.Prior {
	t.Helper()
	p := must.Get(c.Claim(in, kept))(t)
	return p
}

func TestClaimAndSettle(t *testing.T) {
	t.Parallel()
	s := seeded(t)
	c := s.Commands()
	long := epoch.Add(-command.Retention)
	if p := claim(t, c, intent("cmd_1", "k"), long); p != nil {
		t.Fatalf("fresh key: got %+v, want none", p)
	}
	if p := claim(t, c, intent("cmd_2", "k"), long); p == nil || p.Settled || p.Intent.CommandID != "cmd_1" || string(p.Intent.Body) != "unknown" {
		t.Fatalf("unsettled: got %+v, want Settled false, Intent.CommandID cmd_1 and Intent.Body unknown", p)
	}
	st := command.Settlement{Intent: intent("cmd_1", "k"), Outcome: vocab.Reported, ReportedAt: epoch.Add(time.Second), Status: 200, Body: []byte("ok")}
	for range 2 { // the second is a retry after a commit with an unknown result
		must.OK(t, c.Settle(st))
	}
	p := claim(t, c, intent("cmd_2", "k"), long)
	if p == nil || !p.Settled || string(p.Answer.Body) != "ok" || p.Answer.Status != 200 || p.Answer.Result.Outcome != vocab.Reported {
		t.Fatalf("settled: got %+v, want Settled true, Answer.Body ok, Answer.Status 200 and Answer.Result.Outcome %v", p, vocab.Reported)
	}
	c.CountReplay("cmd_1")
	other := intent("cmd_3", "k")
	other.Meaning = "n"
	if p := claim(t, c, other, long); p == nil || p.Meaning != "m" {
		t.Fatalf("another request: got %+v, want Meaning m", p)
	}
	recs, total, err := s.Records("plc_a", epoch.Add(-time.Hour), 10, 0)
	if err != nil || total != 1 || recs[0].Result != vocab.Opened || recs[0].Replays != 1 || recs[0].CommandID != "cmd_1" {
		t.Fatalf("%d records %+v, %v; want one of cmd_1, opened, with one replay", total, recs, err)
	}
	if p := claim(t, c, intent("cmd_4", "k"), epoch); p != nil { // just old enough to be forgotten
		t.Fatalf("after the retention: got %+v, want none", p)
	}
	if list, err := c.Unsettled(); err != nil || len(list) != 1 || list[0].CommandID != "cmd_4" {
		t.Fatalf("unsettled %+v, %v; want only cmd_4", list, err)
	}
	if n, err := c.Forget(epoch.Add(time.Hour), 100); n != 1 || err != nil {
		t.Errorf("forgot %d, %v; want 1, because the unsettled one must stay", n, err)
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
		t.Errorf("got %d claims won, want 1", won)
	}
}

func TestLate(t *testing.T) {
	t.Parallel()
	s := seeded(t)
	c := s.Commands()
	for i, outcome := range []vocab.Outcome{vocab.NoResponse, vocab.Reported, vocab.Offline} {
		in := intent(fmt.Sprint("cmd_", i), "")
		claim(t, c, in, epoch)
		must.OK(t, c.Settle(command.Settlement{Intent: in, Outcome: outcome}))
	}
	claim(t, c, intent("cmd_3", ""), epoch)
	for _, tc := range []struct {
		id, board string
		want      command.Late
	}{
		{"cmd_0", "brd_x", command.LateForeign}, {"cmd_0", "brd_a", command.LateSettled}, {"cmd_0", "brd_a", command.LateKnown},
		{"cmd_1", "brd_a", command.LateKnown}, {"cmd_2", "brd_a", command.LateUnknown}, {"cmd_9", "brd_a", command.LateUnknown},
		{"cmd_3", "brd_a", command.LateUnsettled}, {"cmd_3", "brd_x", command.LateForeign},
	} {
		if got, err := c.Late(command.LateReport{CommandID: tc.id, BoardID: tc.board, ReportedAt: epoch}); got != tc.want || err != nil {
			t.Errorf("%s by %s: %v, %v, want %v", tc.id, tc.board, got, err, tc.want)
		}
	}
	door := must.Get(c.Door(intent("cmd_0", "").DoorID))(t)
	for channel, want := range map[int]command.Late{door.Channel: command.LateKnown, door.Channel + 1: command.LateForeign} {
		r := command.LateReport{CommandID: "cmd_0", BoardID: "brd_a", Standing: &wire.Standing{DoorID: door.DoorID, Channel: channel}, ReportedAt: epoch}
		if got, err := c.Late(r); got != want || err != nil {
			t.Errorf("with a standing of channel %d, the door has %d: %v, %v, want %v", channel, door.Channel, got, err, want)
		}
	}
}

func TestDoorOfTheLedger(t *testing.T) {
	t.Parallel()
	c := seeded(t).Commands()
	if d, err := c.Door("dor_2"); err != nil || d != (command.Door{DoorID: "dor_2", PlaceID: "plc_a", BoardID: "brd_a", Channel: 2, Test: true}) {
		t.Errorf("door %+v, %v, want channel 2 of brd_a in the test place plc_a", d, err)
	}
	if _, err := c.Door("dor_9"); !errors.Is(err, command.ErrNoDoor) {
		t.Errorf("unknown: got %v, want %v", err, command.ErrNoDoor)
	}
}

func TestBoardStates(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "d")
	s := openTest(t, dir)
	must.Get(s.Seed(testWorld(), pepper))(t)
	list, err := s.BoardStates()
	if err != nil || len(list) != 1 || !list[0].FirstSeenAt.IsZero() || len(list[0].Doors) != 2 || list[0].PasswordHash == "" {
		t.Fatalf("boards %+v, %v, want one with two doors and a password, never seen", list, err)
	}
	b := list[0]
	b.FirstSeenAt, b.Since, b.LastSeenAt, b.Online, b.AppliedRevision, b.Digest = epoch, epoch, epoch, true, 3, "d"
	b.UploadsSince = epoch.Add(-time.Hour)
	b.Policy = &wire.Netloss{GraceSec: 60, Channels: map[int]string{1: "hold"}, Version: 2}
	b.Standings = map[int]board.Reported{1: {Standing: wire.Standing{Channel: 1, State: "locked"}, ReportedAt: 7}}
	for range 2 {
		must.OK(t, s.SaveBoardStates([]board.State{b}))
	}
	lives := []int64{}
	for range 2 {
		n := must.Get(s.NextLife())(t)
		lives = append(lives, n)
		_ = s.Close()
		s = openTest(t, dir)
	}
	list, err = s.BoardStates()
	got := list[0]
	if err != nil || !got.Online || got.AppliedRevision != 3 || got.Policy.Channels[1] != "hold" || got.Standings[1].State != "locked" || got.Standings[1].ReportedAt != 7 || !got.FirstSeenAt.Equal(epoch) || !got.UploadsSince.Equal(b.UploadsSince) {
		t.Errorf("read back %+v, %v, want what was saved", got, err)
	}
	if fmt.Sprint(lives) != "[1 2]" {
		t.Errorf("lives %v, want [1 2]", lives)
	}
}

// Recovery after a crash with 10,000 commands in flight settles each of them: afterwards every one has an answer and
// a record. The duration is only logged, because a busy machine isn't a bug.
func TestRecoverTenThousand(t *testing.T) {
	t.Parallel()
	const n = 10000
	s := seeded(t)
	c := s.Commands()
	var wg sync.WaitGroup
	for w := range 500 {
		wg.Go(func() {
			for i := w; i < n; i += 500 {
				in := intent(fmt.Sprintf("cmd_%05d", i), fmt.Sprint("k", i))
				if _, err := c.Claim(in, epoch.Add(-time.Hour)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	began := time.Now()
	svc := command.New(command.Config{Ledger: c, Clock: s.clk})
	defer svc.Stop()
	got, err := svc.Recover()
	took := time.Since(began)
	t.Logf("%d commands settled in %s", got, took)
	if got != n || err != nil {
		t.Errorf("recovered %d, %v, want %d and no error", got, err, n)
	}
	if _, total, err := s.Records("plc_a", epoch.Add(-time.Hour), 1, 0); total != n || err != nil {
		t.Errorf("got %d records, %v, want %d and no error", total, err, n)
	}
	if list, err := c.Unsettled(); len(list) != 0 || err != nil {
		t.Errorf("got %d left, %v, want 0 and no error", len(list), err)
	}
}
