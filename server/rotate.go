package server

import (
	"errors"
	"fmt"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/datadir"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/server/board"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/store"
)

// rotateEvery is how often the server looks for changes by another process ('doorlab board rotate', 'doorlab renew'),
// in wall time. We promise to notice within 5 s.
const rotateEvery = 2 * time.Second

// pepper is what keys and board passwords are hashed with.
func pepper(s datadir.Secret) []byte { return s.Of("api keys") }

// links is what entry tokens derive from.
func links(s datadir.Secret) []byte { return s.Of("entry links") }

func (s *Server) pepper() []byte { return pepper(s.secret) }

// password is a board's password of any generation after the first. It derives from the directory's own secret,
// whatever the first ones derive from.
func password(s datadir.Secret, boardID string, generation int64) string {
	return world.BoardPassword(s.Of("board passwords"), boardID, generation)
}

// passwords compares the world's board passwords with the data's. A simulated board that has another one could never
// connect: ErrOtherWorld. A board elsewhere may well have the one in the data, so there is only a warning.
func (s *Server) passwords() error {
	other, err := s.store.OtherPasswords(s.cfg.World, s.pepper())
	if err != nil {
		return err
	}
	for _, p := range s.cfg.World.Places {
		for _, b := range p.Boards {
			switch {
			case !other[b.ID]:
			case s.cfg.Simulated != nil && s.cfg.Simulated(p.Kind, b.ID):
				return fmt.Errorf("%w: the board %s has another password there, which the world file can't change; 'doorlab board rotate %s --data %s' gives it a new one",
					ErrOtherWorld, b.ID, b.ID, s.cfg.DataDir)
			default:
				s.cfg.Log.Warn(fmt.Sprintf("world: the password of the board %s can't be changed by the world file; use 'doorlab board rotate %s'", b.ID, b.ID))
			}
		}
	}
	return nil
}

// rotate gives a board a new password in the database.
func rotate(st *store.Store, secret datadir.Secret, boardID string) (pw string, err error) {
	err = st.RotateBoard(boardID, func(generation int64) string {
		pw = password(secret, boardID, generation)
		return board.HashPassword(pepper(secret), boardID, pw)
	})
	if errors.Is(err, fail.ErrNotFound) {
		err = fail.New(fail.BoardNotFound, fmt.Sprintf("no board %q ('doorlab board list' and the world file show them)", boardID))
	}
	return pw, err
}

// rotateBoard gives a board a new password, and cuts its connection with the
// old one. Errors: *fail.Error board_not_found; the store's.
func (s *Server) rotateBoard(boardID string) (string, error) {
	pw, err := rotate(s.store, s.secret, boardID)
	if err == nil {
		if s.cfg.Rotated != nil { // first: a simulated board is back at once
			s.cfg.Rotated(boardID, pw)
		}
		s.gateway.Rotated(boardID, board.HashPassword(s.pepper(), boardID, pw))
	}
	return pw, err
}

// watch polls for changes by other processes: rotated boards, and revisions of places.
func (s *Server) watch() error {
	s.rotated = map[string]int64{}
	if err := s.look(); err != nil {
		return err
	}
	s.watching = clock.Real{}.Every(rotateEvery, func() {
		if err := s.look(); err != nil && !s.unwatched.Load() {
			s.cfg.Log.Warn("changes by other processes could not be read", "error", err)
		}
	})
	return nil
}

func (s *Server) look() error {
	list, err := s.store.RotatedBoards()
	for _, r := range list {
		if s.rotated[r.BoardID] == r.Generation {
			continue
		}
		s.rotated[r.BoardID] = r.Generation
		if s.cfg.Rotated != nil {
			s.cfg.Rotated(r.BoardID, password(s.secret, r.BoardID, r.Generation))
		}
		if s.gateway.Rotated(r.BoardID, r.PasswordHash) {
			s.cfg.Log.Warn("the board's password was rotated: its old connection ends", "board", r.BoardID)
		}
	}
	revisions, err2 := s.store.Revisions()
	for placeID, rev := range revisions {
		s.sync.Found(placeID, rev)
	}
	return errors.Join(err, err2)
}

func (s *Server) unwatch() {
	s.unwatched.Store(true)
	if s.watching != nil {
		s.watching.Stop()
	}
}
