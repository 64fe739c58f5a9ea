-- name: InsertAudit :exec
INSERT INTO audit (at, place_id, key_id, request_id, action, detail, count, aged_on) VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: CountAudits :one
SELECT COUNT(*) FROM audit;

-- name: Audits :many
SELECT * FROM audit ORDER BY id DESC LIMIT ? OFFSET ?;

-- name: CountAuditsOfPlace :one
SELECT COUNT(*) FROM audit WHERE place_id = ?;

-- name: AuditsOfPlace :many
SELECT * FROM audit WHERE place_id = ? ORDER BY id DESC LIMIT ? OFFSET ?;

-- Numbers rise with running time: it looks at the oldest only.
-- name: ForgetAudits :execrows
DELETE FROM audit WHERE audit.id IN (SELECT a.id FROM audit a ORDER BY a.id LIMIT sqlc.arg(most))
	AND COALESCE(NULLIF(audit.aged_on, 0), audit.at / 86400000) < sqlc.arg(aged);
