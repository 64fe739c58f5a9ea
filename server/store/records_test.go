package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/board"
	"github.com/doorlab/doorlab/server/record"
)

// A board's record is the same when board, sequence and time are, see OFF-4.
func TestBoardRecordsOnce(t *testing.T) {
	t.Parallel()
	s := seeded(t)
	b := board.State{BoardID: "brd_a", PlaceID: "plc_a", Doors: []board.Door{{DoorID: "dor_1", Channel: 1}}}
	keeper := record.Keeper{Store: s}
	gs, err := s.GrantsOf("plc_a", "01011112222")
	if err != nil || len(gs) != 1 {
		t.Fatalf("%d grants, %v, want one", len(gs), err)
	}
	ms := epoch.Add(-48 * time.Hour).UnixMilli()
	list := []wire.Record{
		{Seq: 1, DoorID: "dor_1", At: ms, Result: vocab.Opened, Reason: "onsite", GrantID: gs[0].ID},
		{Seq: 2, DoorID: "dor_1", At: ms, Result: vocab.Denied, Reason: "no_valid_grant", PhoneTail: "9876"},
		{Seq: 3, DoorID: "dor_1", At: ms, Result: vocab.Denied, Reason: "link_invalid"},
	}
	for _, want := range []int{3, 0} {
		if fresh, bad, err := keeper.Upload(b, list); fresh != want || bad != 0 || err != nil {
			t.Errorf("%d new, %d bad, %v, want %d new", fresh, bad, err, want)
		}
	}
	list[0].At++ // a board that lost its flash counts from 1 again
	if fresh, bad, err := keeper.Upload(b, list[:1]); fresh != 1 || bad != 0 || err != nil {
		t.Errorf("after a wipe: %d new, %d bad, %v, want 1 new", fresh, bad, err)
	}
	kept, total, err := s.Records("plc_a", epoch.Add(-time.Hour), 10, 0)
	if err != nil || total != 4 {
		t.Fatalf("%d records, %v, want 4", total, err)
	}
	got := map[string]int{}
	for _, r := range kept {
		got[r.Actor+" "+r.ActorLabel+" "+r.Source+" "+string(r.Method)+" "+r.OccurredAt.Sub(epoch).Truncate(time.Second).String()]++
	}
	want := map[string]int{"guest:*2222 010-****-2222 board onsite -48h0m0s": 1, "guest:*2222 010-****-2222 board onsite -47h59m59s": 1,
		"guest:*9876 9876 board onsite -48h0m0s": 1, "guest:*---- ---- board onsite -48h0m0s": 1}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}
