-- name: Meta :one
SELECT value FROM meta WHERE name = ?;

-- name: SetMeta :exec
INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value;
