-- name: InsertRecord :execrows
INSERT INTO entry_records (id, place_id, door_id, door_name, result, reason, method, actor, actor_label,
	command_id, grant_id, source, dedupe, requested_at, occurred_at, recorded_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING;

-- name: RecordOfCommand :one
SELECT * FROM entry_records WHERE command_id = ?;

-- name: RecordSettledAs :one
SELECT settled_as FROM entry_records WHERE command_id = ?;

-- name: SettleRecord :exec
UPDATE entry_records SET settled_as = ?, settled_at = ? WHERE id = ?;

-- name: CountReplay :exec
UPDATE entry_records SET replays = replays + 1 WHERE command_id = ?;

-- name: CountRecords :one
SELECT COUNT(*) FROM entry_records WHERE place_id = ? AND recorded_at >= ?;

-- name: Records :many
SELECT * FROM entry_records WHERE place_id = ? AND recorded_at >= ? ORDER BY recorded_at DESC, id DESC LIMIT ? OFFSET ?;
