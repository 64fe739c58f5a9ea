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
	"github.com/doorlab/doorlab/server/store"
)

// Beside opens a data directory, whether or not a server runs on it, and serves
// the control routes of keys and rotation on it; token is what they ask for. A
// running server notices within 5 s. Errors: no data there, datadir.ErrIncomplete,
// ErrForeign, the store's.
func Beside(dir, token string) (h http.Handler, stop func() error, err error) {
	for _, name := range []string{datadir.SecretFile, datadir.DatabaseFile} {
		if _, err := os.Stat(filepath.Join(dir, name)); errors.Is(err, fs.ErrNotExist) {
			return nil, nil, fmt.Errorf("%w: %s has no %s", datadir.ErrIncomplete, dir, name)
		}
	}
	secret, err := datadir.OpenSecret(dir)
	if err != nil {
		return nil, nil, err
	}
	st, err := store.Open(dir, store.Options{Log: slog.New(slog.DiscardHandler), Phones: secret.Of("phones")})
	if err != nil {
		return nil, nil, err
	}
	keys, err := auth.New(auth.Config{Clock: clock.Real{}, Store: st, Pepper: pepper(secret), SigningKey: secret.Of("tokens")})
	if err = errors.Join(err, st.Claim(secret.ID())); err != nil {
		return nil, nil, errors.Join(err, st.Close())
	}
	c := console.Config{Keys: keys, Rotate: func(id string) (string, error) { return rotate(st, secret, id) }}
	return control.Handler(token, func(r chi.Router) { c.KeyRoutes(r) }), st.Close, nil
}
