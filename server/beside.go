package server

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"

	"github.com/go-chi/chi/v5"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/datadir"
	"github.com/doorlab/doorlab/server/auth"
	"github.com/doorlab/doorlab/server/console"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/store"
)

// Beside opens a data directory, whether or not a server is running on it, and serves the control routes for keys and
// rotation; token authorizes their callers. A running server notices changes within 5 s. Errors: no data there,
// datadir.ErrIncomplete, ErrForeign, the store's.
func Beside(dir, token string) (h http.Handler, stop func() error, err error) {
	b, err := openBeside(dir)
	if err != nil {
		return nil, nil, err
	}
	c := console.Config{Keys: b.keys, Rotate: func(id string) (string, error) { return rotate(b.store, b.secret, id) }}
	return control.Handler(token, func(r chi.Router) {
		c.KeyRoutes(r)
		r.Get("/places", func(w http.ResponseWriter, _ *http.Request) { names(w, b.store) })
	}), b.store.Close, nil
}

// beside is a data directory that a server may be running on.
type beside struct {
	secret datadir.Secret
	store  *store.Store
	keys   *auth.Service
}

func openBeside(dir string) (*beside, error) {
	for _, name := range []string{datadir.SecretFile, datadir.DatabaseFile} {
		if _, err := os.Stat(filepath.Join(dir, name)); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%w: %s has no %s", datadir.ErrIncomplete, dir, name)
		}
	}
	secret, err := datadir.OpenSecret(dir)
	if err != nil {
		return nil, err
	}
	st, err := store.Open(dir, store.Options{Log: slog.New(slog.DiscardHandler), Phones: secret.Of("phones")})
	if err != nil {
		return nil, err
	}
	keys, err := auth.New(auth.Config{Clock: clock.Real{}, Store: st, Pepper: pepper(secret), SigningKey: secret.Of("tokens")})
	if err = errors.Join(err, st.Claim(secret.ID())); err != nil {
		return nil, errors.Join(err, st.Close())
	}
	return &beside{secret, st, keys}, nil
}

// names lists the places as the control API does, without their keys.
func names(w http.ResponseWriter, st *store.Store) {
	places, err := st.Places()
	if err != nil {
		control.Fail(w, http.StatusServiceUnavailable, fail.StorageUnavailable, err.Error(), nil)
		return
	}
	type row struct {
		PlaceID string `json:"placeId"`
		Name    string `json:"name"`
		Kind    string `json:"kind"`
	}
	rows := make([]row, 0, len(places))
	for _, p := range places {
		rows = append(rows, row{p.ID, p.Name, p.Kind})
	}
	control.List(w, rows, len(rows))
}
