package store

import (
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/server/board"
)

// hashPasswords replaces passwords that an older version stored in clear text.
func (t *Tx) hashPasswords(pepper []byte) error {
	rows, err := t.q.ClearPasswords(ctx)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if err := t.q.SetBoardHash(ctx, board.HashPassword(pepper, r.ID, r.Password), r.ID); err != nil {
			return err
		}
	}
	return nil
}

// OtherPasswords are the ids of the boards whose password in the world isn't the one in the data, which a world file
// can't change. A rotated password is meant to differ.
func (s *Store) OtherPasswords(w *world.World, pepper []byte) (map[string]bool, error) {
	rows, err := s.q.Boards(ctx)
	if err != nil {
		return nil, wrap(err)
	}
	given := map[string]string{}
	for _, p := range w.Places {
		for _, b := range p.Boards {
			given[b.ID] = board.HashPassword(pepper, b.ID, b.Password)
		}
	}
	other := map[string]bool{}
	for _, r := range rows {
		if r.Hash == "" { // of an older version
			r.Hash = board.HashPassword(pepper, r.ID, r.Password)
		}
		if hash, ok := given[r.ID]; ok && hash != r.Hash && r.Generation == 0 {
			other[r.ID] = true
		}
	}
	return other, nil
}
