package store

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/device"
	"github.com/doorlab/doorlab/server/store/db"
)

// BoardStates lists every board with its doors and what was kept of it.
func (s *Store) BoardStates() ([]device.BoardState, error) {
	rows, err := s.q.BoardStates(ctx)
	list, err := each(boardStateOf, rows, err)
	if err != nil {
		return nil, err
	}
	doors, err := s.q.DoorsByChannel(ctx)
	if err != nil {
		return nil, wrap(err)
	}
	at := make(map[string]int, len(list))
	for i, b := range list {
		at[b.BoardID] = i
	}
	for _, d := range doors {
		b := &list[at[d.BoardID]]
		b.Doors = append(b.Doors, device.BoardDoor{DoorID: d.ID, Channel: int(d.Channel)})
	}
	return list, nil
}

func boardStateOf(r db.BoardStatesRow, err error) (device.BoardState, error) {
	b := device.BoardState{BoardID: r.ID, PlaceID: r.PlaceID, Password: r.Password,
		FirstSeenAt: fromNull(r.FirstSeenAt), Since: fromNull(r.Since), LastSeenAt: fromNull(r.LastSeenAt), Online: r.Online,
		AppliedRevision: r.AppliedRevision.Int64, Digest: r.Digest.String, AppliedAt: fromNull(r.AppliedAt),
		NetlossAppliedAt: fromNull(r.NetlossAppliedAt), Dropped: int(r.Dropped.Int64)}
	if r.Netloss.Valid {
		b.Netloss = &wire.Netloss{}
		err = json.Unmarshal([]byte(r.Netloss.String), b.Netloss)
	}
	if r.Standings.String != "" {
		err = errors.Join(err, json.Unmarshal([]byte(r.Standings.String), &b.Standings))
	}
	return b, err
}

// SaveBoardStates keeps what is known of boards that have said hello, all in one transaction.
func (s *Store) SaveBoardStates(list []device.BoardState) error {
	return s.Write(func(tx *sql.Tx) error {
		q := db.New(tx)
		for _, b := range list {
			var netloss sql.NullString
			if b.Netloss != nil {
				netloss = text(jsonText(b.Netloss))
			}
			if err := q.PutBoardState(ctx, db.PutBoardStateParams{BoardID: b.BoardID, FirstSeenAt: b.FirstSeenAt.UnixMilli(),
				Since: b.Since.UnixMilli(), LastSeenAt: b.LastSeenAt.UnixMilli(), Online: b.Online, AppliedRevision: b.AppliedRevision,
				Digest: b.Digest, AppliedAt: toNull(b.AppliedAt), Netloss: netloss, NetlossAppliedAt: toNull(b.NetlossAppliedAt),
				Standings: jsonText(b.Standings), Dropped: int64(b.Dropped)}); err != nil {
				return err
			}
		}
		return nil
	})
}

// NextLife counts the starts of the server on this data: no two lives share an epoch.
func (s *Store) NextLife() (n int64, err error) {
	err = s.Write(func(tx *sql.Tx) error {
		have, err := none(db.New(tx).Meta(ctx, "life"))
		if err != nil {
			return err
		}
		if have != "" {
			if n, err = strconv.ParseInt(have, 10, 64); err != nil {
				return err
			}
		}
		n++
		return SetMeta(tx, "life", strconv.FormatInt(n, 10))
	})
	return n, err
}

// InsertBoardRecords writes a batch of a board's records in one transaction,
// each once [OFF-4]: a record is the same when board, sequence and time are (a
// board that lost its flash counts from 1 again). It returns how many were new.
func (s *Store) InsertBoardRecords(b device.BoardState, recs []wire.Record) (fresh int, err error) {
	err = s.Write(func(tx *sql.Tx) error {
		for _, r := range recs {
			actor, label, err := whoWas(tx, b.PlaceID, r)
			if err != nil {
				return err
			}
			at := time.UnixMilli(r.At).UTC()
			ok, err := InsertRecord(tx, Record{PlaceID: b.PlaceID, DoorID: r.DoorID, Result: r.Result, Reason: r.Reason, Method: access.MethodOnsite,
				Actor: actor, ActorLabel: label, GrantID: r.GrantID, Source: FromBoard, Dedupe: fmt.Sprintf("%s/%d/%d", b.BoardID, r.Seq, r.At),
				BoardID: b.BoardID, BoardSeq: r.Seq,
				RequestedAt: at, OccurredAt: at})
			if err != nil {
				return err
			}
			if ok {
				fresh++
			}
		}
		return nil
	})
	return fresh, err
}

// whoWas masks the person of a board's record: by the grant, else by the tail
// that the board kept.
func whoWas(tx *sql.Tx, placeID string, r wire.Record) (actor, label string, err error) {
	actor, label = access.MaskEnds(r.PhoneHead, r.PhoneTail)
	if r.GrantID != "" {
		phone, err := db.New(tx).GrantPhone(ctx, r.GrantID, placeID)
		if err == nil {
			actor, label = access.MaskPhone(phone)
		} else if !errors.Is(err, sql.ErrNoRows) {
			return actor, label, wrap(err)
		}
	}
	return actor, label, nil
}
