-- name: InsertCommand :exec
INSERT INTO commands (id, place_id, key, meaning, door_id, board_id, command, minutes, reason, method,
	actor, actor_label, grant_id, entry_reason, requested_at, status, body)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: CommandByKey :one
SELECT * FROM commands WHERE place_id = ? AND key = ?;

-- name: ForgetKey :exec
UPDATE commands SET key = NULL WHERE id = ?;

-- name: SettleCommand :execrows
UPDATE commands SET outcome = ?, device_code = ?, reported_at = ?, status = ?, body = ? WHERE id = ? AND outcome IS NULL;

-- name: CommandOutcome :one
SELECT board_id, command, outcome FROM commands WHERE id = ?;

-- name: UnsettledCommands :many
SELECT * FROM commands WHERE outcome IS NULL ORDER BY id;

-- Ids sort by time, so it looks at the oldest only.
-- name: ForgetCommands :execrows
DELETE FROM commands WHERE commands.id IN (SELECT c.id FROM commands c ORDER BY c.id LIMIT sqlc.arg(oldest))
	AND commands.requested_at < sqlc.arg(before) AND commands.outcome IS NOT NULL;
