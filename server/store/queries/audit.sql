-- name: InsertAudit :exec
INSERT INTO audit (at, place_id, key_id, request_id, action, detail, count) VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: CountAudits :one
SELECT COUNT(*) FROM audit WHERE place_id = ?;

-- name: Audits :many
SELECT * FROM audit WHERE place_id = ? ORDER BY id DESC LIMIT ? OFFSET ?;
