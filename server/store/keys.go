package store

import (
	"database/sql"
	"encoding/json"
	"time"

	"github.com/doorlab/doorlab/server/auth"
)

func insertKey(tx *sql.Tx, k auth.Key, hash string, world bool) error {
	_, err := tx.Exec("INSERT INTO keys (id, place_id, name, hash, scopes, sim, world, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		k.ID, k.PlaceID, k.Name, hash, jsonText(k.Scopes), k.Sim, world, k.CreatedAt.UnixMilli())
	return err
}

// InsertKey stores a new key by its hash.
func (s *Store) InsertKey(k auth.Key, hash string) error {
	return s.Write(func(tx *sql.Tx) error { return insertKey(tx, k, hash, false) })
}

const keyColumns = "id, place_id, name, scopes, sim, created_at, revoked_at"

func scanKey(row interface{ Scan(...any) error }) (auth.Key, error) {
	var k auth.Key
	var scopes string
	var created int64
	var revoked sql.NullInt64
	if err := row.Scan(&k.ID, &k.PlaceID, &k.Name, &scopes, &k.Sim, &created, &revoked); err != nil {
		return k, wrap(err)
	}
	k.CreatedAt, k.RevokedAt = msTime(created), fromNull(revoked)
	return k, json.Unmarshal([]byte(scopes), &k.Scopes)
}

// KeyByHash finds a key, revoked or not. ErrNotFound.
func (s *Store) KeyByHash(hash string) (auth.Key, error) {
	return scanKey(s.read.QueryRow("SELECT "+keyColumns+" FROM keys WHERE hash = ?", hash))
}

// Key reads a key by id. ErrNotFound.
func (s *Store) Key(id string) (auth.Key, error) {
	return scanKey(s.read.QueryRow("SELECT "+keyColumns+" FROM keys WHERE id = ?", id))
}

// Keys lists a place's keys, or all when placeID is "".
func (s *Store) Keys(placeID string) ([]auth.Key, error) {
	return collect(s.read, scanKey, "SELECT "+keyColumns+" FROM keys WHERE place_id = ?1 OR ?1 = '' ORDER BY created_at, id", placeID)
}

// RevokedKeys lists the keys that were revoked.
func (s *Store) RevokedKeys() ([]auth.Key, error) {
	return collect(s.read, scanKey, "SELECT "+keyColumns+" FROM keys WHERE revoked_at IS NOT NULL ORDER BY id")
}

// RevokeKey ends a key; a repeat keeps the first time. ErrNotFound.
func (s *Store) RevokeKey(id string, at time.Time) error {
	return s.Write(func(tx *sql.Tx) error {
		res, err := tx.Exec("UPDATE keys SET revoked_at = COALESCE(revoked_at, ?) WHERE id = ?", at.UnixMilli(), id)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return sql.ErrNoRows
		}
		return nil
	})
}
