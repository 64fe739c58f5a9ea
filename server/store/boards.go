package store

import (
	"database/sql"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/doorlab/doorlab/server/board"
	"github.com/doorlab/doorlab/server/record"
	"github.com/doorlab/doorlab/server/store/db"
)

// BoardStates lists every board with its doors and its stored state.
func (s *Store) BoardStates() ([]board.State, error) {
	list, err := converted(boardStateOf)(s.q.BoardStates(ctx))
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
		b.Doors = append(b.Doors, board.Door{DoorID: d.ID, Channel: int(d.Channel)})
	}
	return list, nil
}

func boardStateOf(r db.BoardStatesRow, err error) (board.State, error) {
	b := board.State{BoardID: r.ID, PlaceID: r.PlaceID, PasswordHash: r.Hash,
		FirstSeenAt: fromNull(r.FirstSeenAt), Since: fromNull(r.Since), LastSeenAt: fromNull(r.LastSeenAt), Online: r.Online,
		AppliedRevision: r.AppliedRevision.Int64, Digest: r.Digest.String, AppliedAt: fromNull(r.AppliedAt),
		PolicyAppliedAt: fromNull(r.NetlossAppliedAt), Dropped: int(r.Dropped.Int64), UploadsSince: fromNull(r.UploadsSince)}
	if r.Netloss.Valid {
		b.Policy = &board.Policy{}
		err = json.Unmarshal([]byte(r.Netloss.String), b.Policy)
	}
	if r.Standings.String != "" {
		err = errors.Join(err, json.Unmarshal([]byte(r.Standings.String), &b.Standings))
	}
	return b, err
}

// SaveBoardStates stores the states of boards that have said hello, in one transaction.
func (s *Store) SaveBoardStates(list []board.State) error {
	return s.write(func(tx *Tx) error {
		for _, b := range list {
			if err := tx.SaveBoardState(b); err != nil {
				return err
			}
		}
		return nil
	})
}

// SaveBoardState implements record.Tx.
func (t *Tx) SaveBoardState(b board.State) error {
	var netloss sql.NullString
	if b.Policy != nil {
		netloss = text(jsonText(b.Policy))
	}
	return wrap(t.q.PutBoardState(ctx, db.PutBoardStateParams{BoardID: b.BoardID, FirstSeenAt: b.FirstSeenAt.UnixMilli(),
		Since: b.Since.UnixMilli(), LastSeenAt: b.LastSeenAt.UnixMilli(), Online: b.Online, AppliedRevision: b.AppliedRevision,
		Digest: b.Digest, AppliedAt: toNull(b.AppliedAt), Netloss: netloss, NetlossAppliedAt: toNull(b.PolicyAppliedAt),
		Standings: jsonText(b.Standings), Dropped: int64(b.Dropped), UploadsSince: toNull(b.UploadsSince)}))
}

// RotateBoard gives a board its next password: next derives it from the generation, and its hash is stored. Error: fail.ErrNotFound
// for an unknown board.
func (s *Store) RotateBoard(id string, next func(generation int64) (hash string)) error {
	return s.write(func(tx *Tx) error {
		row, err := tx.q.Board(ctx, id)
		if err != nil {
			return err
		}
		n := row.Generation + 1
		if _, err = tx.q.RotateBoard(ctx, db.RotateBoardParams{ID: id, Generation: n, Hash: next(n)}); err != nil {
			return err
		}
		return tx.InsertAudit(record.Audit{PlaceID: row.PlaceID, Action: "board.rotated", Detail: id})
	})
}

// RotatedBoards lists the boards whose password was rotated.
func (s *Store) RotatedBoards() ([]board.Rotated, error) {
	return converted(func(r db.RotatedBoardsRow, err error) (board.Rotated, error) {
		return board.Rotated{BoardID: r.ID, PasswordHash: r.Hash, Generation: r.Generation}, err
	})(s.q.RotatedBoards(ctx))
}

// NextLife counts the starts of the server on this data, so that no two starts share an epoch.
func (s *Store) NextLife() (n int64, err error) {
	err = s.write(func(tx *Tx) error {
		have, err := none(tx.q.Meta(ctx, "life"))
		if err != nil {
			return err
		}
		if have != "" {
			if n, err = strconv.ParseInt(have, 10, 64); err != nil {
				return err
			}
		}
		n++
		return tx.setMeta("life", strconv.FormatInt(n, 10))
	})
	return n, err
}
