-- No row when the place has the key already.
-- name: InsertCommand :execrows
INSERT INTO commands (id, place_id, key, meaning, door_id, board_id, command, minutes, reason, method,
	actor, actor_label, grant_id, entry_reason, requested_at, aged_at, status, body)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (key, place_id) WHERE key IS NOT NULL DO NOTHING;

-- name: CommandByKey :one
SELECT * FROM commands WHERE place_id = ? AND key = ?;

-- name: ForgetKey :exec
UPDATE commands SET key = NULL WHERE id = ?;

-- name: WithdrawCommand :exec
DELETE FROM commands WHERE id = ? AND outcome IS NULL;

-- name: SettleCommand :execrows
UPDATE commands SET outcome = ?, device_code = ?, reported_at = ?, status = ?, body = ? WHERE id = ? AND outcome IS NULL;

-- name: CommandOutcome :one
SELECT c.board_id, c.door_id, c.command, c.outcome, COALESCE(d.channel, 0) AS channel FROM commands c LEFT JOIN doors d ON d.id = c.door_id WHERE c.id = ?;

-- name: CommandMeaning :one
SELECT meaning FROM commands WHERE id = ?;

-- name: UnsettledCommands :many
SELECT * FROM commands WHERE outcome IS NULL ORDER BY id;

-- name: ForgetCommands :execrows
DELETE FROM commands WHERE commands.id IN (SELECT c.id FROM commands c WHERE c.aged_at < sqlc.arg(before) AND c.outcome IS NOT NULL
	ORDER BY c.aged_at LIMIT sqlc.arg(most));

-- name: NewestAge :one
SELECT CAST(COALESCE(MAX(aged_at), 0) AS INTEGER) FROM commands;
