package store

import (
	"database/sql"
	"encoding/json"
	"strings"
	"time"

	"github.com/doorlab/doorlab/server/auth"
	"github.com/doorlab/doorlab/server/record"
	"github.com/doorlab/doorlab/server/store/db"
)

func (t *Tx) insertKey(k auth.Key, hash string, world bool) error {
	return t.q.InsertKey(ctx, db.InsertKeyParams{ID: k.ID, PlaceID: k.PlaceID, Name: k.Name, Hash: hash,
		Scopes: jsonText(k.Scopes), Sim: k.Sim, World: world, CreatedAt: k.CreatedAt.UnixMilli()})
}

// auditKey says in the audit log what an operator did to a key.
func (t *Tx) auditKey(action string, k auth.Key) error {
	return t.InsertAudit(record.Audit{PlaceID: k.PlaceID, Action: action, Detail: k.ID + ": " + strings.Join(k.Scopes, ", ")})
}

// InsertKey stores a new key by its hash, and says so in the audit log.
func (s *Store) InsertKey(k auth.Key, hash string) error {
	return s.write(func(tx *Tx) error {
		if err := tx.insertKey(k, hash, false); err != nil {
			return err
		}
		return tx.auditKey("key.issued", k)
	})
}

func keyOf(r db.Key, err error) (auth.Key, error) {
	if err != nil {
		return auth.Key{}, wrap(err)
	}
	k := auth.Key{ID: r.ID, PlaceID: r.PlaceID, Name: r.Name, Sim: r.Sim, CreatedAt: msTime(r.CreatedAt), RevokedAt: fromNull(r.RevokedAt)}
	return k, json.Unmarshal([]byte(r.Scopes), &k.Scopes)
}

// KeyByHash finds a key, revoked or not. Error: fail.ErrNotFound.
func (s *Store) KeyByHash(hash string) (auth.Key, error) { return keyOf(s.q.KeyByHash(ctx, hash)) }

// Key reads a key by id. Error: fail.ErrNotFound.
func (s *Store) Key(id string) (auth.Key, error) { return keyOf(s.q.Key(ctx, id)) }

// Keys lists a place's keys, or all when placeID is "".
func (s *Store) Keys(placeID string) ([]auth.Key, error) {
	if placeID == "" {
		return converted(keyOf)(s.q.Keys(ctx))
	}
	return converted(keyOf)(s.q.KeysOfPlace(ctx, placeID))
}

// RevokedKeys lists the ids of the keys that were revoked.
func (s *Store) RevokedKeys() ([]string, error) {
	ids, err := s.q.RevokedKeys(ctx)
	return ids, wrap(err)
}

// RevokeKey ends a key; a repeat keeps the first time. Error: fail.ErrNotFound.
func (s *Store) RevokeKey(id string, at time.Time) error {
	return s.write(func(tx *Tx) error {
		k, err := keyOf(tx.q.Key(ctx, id))
		if err != nil || !k.RevokedAt.IsZero() {
			return err
		}
		if _, err := tx.q.RevokeKey(ctx, sql.NullInt64{Int64: at.UnixMilli(), Valid: true}, id); err != nil {
			return err
		}
		return tx.auditKey("key.revoked", k)
	})
}
