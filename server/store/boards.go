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
)

// BoardStates lists every board with its doors and what was kept of it.
func (s *Store) BoardStates() ([]device.BoardState, error) {
	list, err := collect(s.read, scanBoardState, `SELECT b.id, b.place_id, b.password, first_seen_at, since, last_seen_at, COALESCE(online, 0),
			COALESCE(applied_revision, 0), COALESCE(digest, ''), applied_at, netloss, netloss_applied_at, COALESCE(standings, ''), COALESCE(dropped, 0)
		FROM boards b LEFT JOIN board_states s ON s.board_id = b.id ORDER BY b.id`)
	if err != nil {
		return nil, err
	}
	doors, err := collect(s.read, scanDoor, "SELECT "+doorColumns+" FROM doors ORDER BY channel, id")
	if err != nil {
		return nil, err
	}
	at := make(map[string]int, len(list))
	for i, b := range list {
		at[b.BoardID] = i
	}
	for _, d := range doors {
		b := &list[at[d.BoardID]]
		b.Doors = append(b.Doors, device.BoardDoor{DoorID: d.ID, Channel: d.Channel})
	}
	return list, nil
}

func scanBoardState(row interface{ Scan(...any) error }) (device.BoardState, error) {
	var b device.BoardState
	var first, since, seen, applied, netlossAt sql.NullInt64
	var netloss sql.NullString
	var standings string
	err := row.Scan(&b.BoardID, &b.PlaceID, &b.Password, &first, &since, &seen, &b.Online,
		&b.AppliedRevision, &b.Digest, &applied, &netloss, &netlossAt, &standings, &b.Dropped)
	if err != nil {
		return b, wrap(err)
	}
	b.FirstSeenAt, b.Since, b.LastSeenAt = fromNull(first), fromNull(since), fromNull(seen)
	b.AppliedAt, b.NetlossAppliedAt = fromNull(applied), fromNull(netlossAt)
	if netloss.Valid {
		b.Netloss = &wire.Netloss{}
		err = json.Unmarshal([]byte(netloss.String), b.Netloss)
	}
	if standings != "" {
		err = errors.Join(err, json.Unmarshal([]byte(standings), &b.Standings))
	}
	return b, err
}

// SaveBoardStates keeps what is known of boards that have said hello, all in one transaction.
func (s *Store) SaveBoardStates(list []device.BoardState) error {
	return s.Write(func(tx *sql.Tx) error {
		for _, b := range list {
			var netloss any
			if b.Netloss != nil {
				netloss = jsonText(b.Netloss)
			}
			if _, err := tx.Exec(`INSERT INTO board_states (board_id, first_seen_at, since, last_seen_at, online, applied_revision, digest,
					applied_at, netloss, netloss_applied_at, standings, dropped) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
				ON CONFLICT (board_id) DO UPDATE SET since = excluded.since, last_seen_at = excluded.last_seen_at, online = excluded.online,
					applied_revision = excluded.applied_revision, digest = excluded.digest, applied_at = excluded.applied_at,
					netloss = excluded.netloss, netloss_applied_at = excluded.netloss_applied_at,
					standings = excluded.standings, dropped = excluded.dropped`,
				b.BoardID, b.FirstSeenAt.UnixMilli(), b.Since.UnixMilli(), b.LastSeenAt.UnixMilli(), b.Online, b.AppliedRevision, b.Digest,
				toNull(b.AppliedAt), netloss, toNull(b.NetlossAppliedAt), jsonText(b.Standings), b.Dropped); err != nil {
				return err
			}
		}
		return nil
	})
}

// NextLife counts the starts of the server on this data: no two lives share an epoch.
func (s *Store) NextLife() (n int64, err error) {
	err = s.Write(func(tx *sql.Tx) error {
		var have string
		err := tx.QueryRow("SELECT value FROM meta WHERE name = 'life'").Scan(&have)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
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
		var phone string
		err = wrap(tx.QueryRow("SELECT phone FROM grants WHERE id = ? AND place_id = ?", r.GrantID, placeID).Scan(&phone))
		if err == nil {
			actor, label = access.MaskPhone(phone)
		}
		if errors.Is(err, ErrNotFound) {
			err = nil
		}
	}
	return actor, label, err
}
