-- name: InsertKey :exec
INSERT INTO keys (id, place_id, name, hash, scopes, sim, world, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: KeyByHash :one
SELECT * FROM keys WHERE hash = ?;

-- name: Key :one
SELECT * FROM keys WHERE id = ?;

-- name: Keys :many
SELECT * FROM keys ORDER BY created_at, id;

-- name: KeysOfPlace :many
SELECT * FROM keys WHERE place_id = ? ORDER BY created_at, id;

-- name: RevokedKeys :many
SELECT id FROM keys WHERE revoked_at IS NOT NULL;

-- A repeat keeps the first time.
-- name: RevokeKey :execrows
UPDATE keys SET revoked_at = COALESCE(revoked_at, sqlc.arg(at)) WHERE id = sqlc.arg(id);
