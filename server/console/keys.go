package console

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/server/auth"
	"github.com/doorlab/doorlab/server/fail"
)

func viewKey(k auth.Key) control.Key {
	return control.Key{KeyID: k.ID, PlaceID: k.PlaceID, Name: k.Name, Scopes: orEmpty(k.Scopes), Sim: k.Sim, CreatedAt: k.CreatedAt.UTC().Format(control.TimeFormat), RevokedAt: control.TimeOrNull(k.RevokedAt)}
}

func (c Config) listKeys(w http.ResponseWriter, r *http.Request) {
	placeID := r.URL.Query().Get("placeId")
	keys, err := c.Keys.List(placeID)
	if err != nil {
		refuse(w, c.noPlace(placeID, err))
		return
	}
	control.List(w, each.Of(keys, viewKey), len(keys))
}

func (c Config) createKey(w http.ResponseWriter, r *http.Request) {
	var b struct {
		PlaceID *string  `json:"placeId"`
		Scopes  []string `json:"scopes"`
		Name    *string  `json:"name"`
		Sim     bool     `json:"sim"`
	}
	if !control.Body(w, r, &b) {
		return
	}
	if b.PlaceID == nil {
		refuse(w, fail.Missing("placeId"))
		return
	}
	name := "key"
	if b.Name != nil {
		name = *b.Name
	}
	k, secret, err := c.Keys.Create(*b.PlaceID, name, b.Scopes, b.Sim)
	answer(w, map[string]string{"keyId": k.ID, "apiKey": secret}, c.noPlace(*b.PlaceID, err))
}

func (c Config) revokeKey(w http.ResponseWriter, r *http.Request) {
	id := chi.URLParam(r, "keyId")
	answer(w, map[string]any{"keyId": id, "revoked": true}, c.Keys.Revoke(id))
}

func (c Config) rotate(w http.ResponseWriter, r *http.Request) {
	id := chi.URLParam(r, "id")
	password, err := c.Rotate(id)
	answer(w, map[string]string{"boardId": id, "password": password}, err)
}
