package server

import (
	"errors"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/server/grant"
)

// Renewal says which secrets of a data directory to renew.
type Renewal struct {
	Keys, Boards, Links bool
	// Key is called with each new API key before the old one is revoked, Board with each new password. An error from
	// either ends the renewal.
	Key   func(placeID, name, oldID, newID, apiKey string) error
	Board func(boardID, password string) error
}

// Renewed counts what was renewed.
type Renewed struct{ Keys, Boards, Links int }

// Renew replaces secrets of a data directory, whether or not a server is running on it: every valid API key by one with
// the same rights, the password of every board, the entry link of every permit. A running server notices within 5 s.
// After an error, what has been renewed stays renewed; a repeat renews everything again. Errors: as Beside, those of
// Key and Board.
func Renew(dir string, r Renewal) (n Renewed, err error) {
	b, err := openBeside(dir)
	if err != nil {
		return n, err
	}
	defer func() { err = errors.Join(err, b.store.Close()) }()
	if r.Keys {
		if n.Keys, err = b.renewKeys(r.Key); err != nil {
			return n, err
		}
	}
	if r.Boards {
		if n.Boards, err = b.renewBoards(r.Board); err != nil {
			return n, err
		}
	}
	if r.Links {
		n.Links, err = grant.New(grant.Config{Clock: clock.Real{}, Store: b.store, Secret: links(b.secret)}).RenewLinks()
	}
	return n, err
}

func (b *beside) renewKeys(show func(placeID, name, oldID, newID, apiKey string) error) (n int, err error) {
	list, err := b.keys.List("")
	if err != nil {
		return 0, err
	}
	for _, old := range list {
		if !old.RevokedAt.IsZero() {
			continue
		}
		k, secret, err := b.keys.Create(old.PlaceID, old.Name, old.Scopes, old.Sim)
		if err != nil {
			return n, err
		}
		if err := show(k.PlaceID, k.Name, old.ID, k.ID, secret); err != nil {
			return n, errors.Join(err, b.keys.Revoke(k.ID)) // nobody has it
		}
		if err := b.keys.Revoke(old.ID); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func (b *beside) renewBoards(show func(boardID, password string) error) (n int, err error) {
	list, err := b.store.Boards("")
	if err != nil {
		return 0, err
	}
	for _, board := range list {
		pw, err := rotate(b.store, b.secret, board.ID)
		if err != nil {
			return n, err
		}
		if err := show(board.ID, pw); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
