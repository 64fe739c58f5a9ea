package store

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/board"
	"github.com/doorlab/doorlab/server/record"
)

// noAudit fails at the last write of a change.
type noAudit struct{ *Store }

func (s noAudit) KeepRecords(fn func(record.Tx, time.Time) error) error {
	return s.Store.KeepRecords(func(tx record.Tx, now time.Time) error { return fn(noAuditTx{tx}, now) })
}

type noAuditTx struct{ record.Tx }

var errFull = errors.New("disk full")

func (noAuditTx) InsertAudit(record.Audit) error { return errFull }

// What a board confirmed of its outage policy and the record of who requested it are one write.
func TestOutagePolicyAndItsRecord(t *testing.T) {
	t.Parallel()
	s := seeded(t)
	confirmed := board.State{BoardID: "brd_a", PlaceID: "plc_a", FirstSeenAt: epoch, Policy: &board.Policy{GraceSec: 60, Version: 1}}
	c := record.OutagePolicy(record.By{PlaceID: "plc_a", KeyID: "key_a"}, "brd_a", *confirmed.Policy)
	for _, tc := range []struct {
		store record.Store
		want  error
		kept  int
	}{{noAudit{s}, errFull, 0}, {s, nil, 1}} {
		if err := (record.Keeper{Store: tc.store}).Configured(confirmed, []record.Change{c}); !errors.Is(err, tc.want) {
			t.Errorf("error %v, want %v", err, tc.want)
		}
		list, n, err := s.Records("plc_a", epoch.Add(-time.Hour), 10, 0)
		if err != nil || n != tc.kept || n == 1 && list[0].Note != "outage policy of brd_a: graceSec 60, version 1" {
			t.Errorf("records %+v, %v, want %d", list, err, tc.kept)
		}
		states, err := s.BoardStates()
		if err != nil || len(states) == 0 {
			t.Fatalf("%d boards, %v, want those of the world", len(states), err)
		}
		for _, b := range states {
			if got, want := b.Policy != nil, tc.kept == 1 && b.BoardID == "brd_a"; got != want {
				t.Errorf("outage policy of %s is there: %t, want %t", b.BoardID, got, want)
			}
		}
	}
}

// A board's record is identified by board, sequence and time, see OFF-4.
func TestBoardRecordsOnce(t *testing.T) {
	t.Parallel()
	s := seeded(t)
	b := board.State{BoardID: "brd_a", PlaceID: "plc_a", Doors: []board.Door{{DoorID: "dor_1", Channel: 1}}}
	keeper := record.Keeper{Store: s}
	gs, err := s.GrantsOf("plc_a", "01011112222")
	if err != nil || len(gs) != 1 {
		t.Fatalf("%d grants, %v, want one", len(gs), err)
	}
	ms := epoch.UnixMilli()
	link := permit("linked", epoch, epoch.Add(time.Hour))
	link.TokenHash, link.Phone = "its hash", "01044445555"
	must.OK(t, s.write(func(tx *Tx) error { return tx.putGrant(&link, nil) }))
	list := []wire.Record{
		{Seq: 1, DoorID: "dor_1", At: ms, Result: vocab.Opened, Reason: "onsite", GrantID: gs[0].ID},
		{Seq: 2, DoorID: "dor_1", At: ms, Result: vocab.Denied, Reason: "no_valid_grant", PhoneTail: "9876"},
		{Seq: 3, DoorID: "dor_1", At: ms, Result: vocab.Denied, Reason: "link_invalid"},
		{Seq: 4, DoorID: "dor_1", At: ms, Result: vocab.Opened, Reason: "free_window", TokenHash: link.TokenHash},
		{Seq: 5, DoorID: "dor_1", At: ms, Result: vocab.Denied, Reason: "link_invalid", TokenHash: "no hash"},
	}
	for _, want := range []int{5, 0} {
		if got, err := keeper.Upload(b, list); got != (record.Uploaded{Fresh: want}) || err != nil {
			t.Errorf("%+v, %v, want %d new", got, err, want)
		}
	}
	list[0].At += 1000 // a board that lost its flash starts at 1 again
	if got, err := keeper.Upload(b, list[:1]); got != (record.Uploaded{Fresh: 1}) || err != nil {
		t.Errorf("after a wipe: %+v, %v, want 1 new", got, err)
	}
	kept, total, err := s.Records("plc_a", epoch.Add(-time.Hour), 10, 0)
	if err != nil || total != 6 {
		t.Fatalf("%d records, %v, want 6", total, err)
	}
	got := map[string]int{}
	for _, r := range kept {
		got[r.Actor+" "+r.ActorLabel+" "+r.Source+" "+string(r.Method)+" "+r.OccurredAt.Sub(epoch).Truncate(time.Second).String()]++
	}
	want := map[string]int{"guest:*2222 010-****-2222 board onsite 0s": 1, "guest:*2222 010-****-2222 board onsite 1s": 1,
		"guest:*9876 9876 board onsite 0s": 1, "guest:*---- ---- board onsite 0s": 2, "guest:*5555 010-****-5555 board onsite 0s": 1}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}
