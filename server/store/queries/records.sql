-- name: InsertRecord :execrows
INSERT INTO entry_records (id, place_id, door_id, door_name, result, reason, method, actor, actor_label,
	command_id, grant_id, source, dedupe, requested_at, occurred_at, recorded_at, note, aged_on)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING;

-- name: RecordOfCommand :one
SELECT * FROM entry_records WHERE command_id = ?;

-- name: SettleRecord :exec
UPDATE entry_records SET settled_as = ?, settled_at = ? WHERE id = ?;

-- name: CountReplays :execrows
UPDATE entry_records SET replays = replays + sqlc.arg(more) WHERE command_id = sqlc.arg(command_id);

-- name: CountRecords :one
SELECT COUNT(*) FROM entry_records WHERE place_id = ? AND recorded_at >= ?;

-- name: RecordsByID :many
SELECT * FROM entry_records WHERE id IN (sqlc.slice('ids'));

-- By place, because the index on the date begins with it; of what the date lets go, little is young.
-- name: ForgetRecords :execrows
DELETE FROM entry_records WHERE entry_records.id IN (SELECT r.id FROM entry_records r WHERE r.place_id = sqlc.arg(place_id)
	AND r.recorded_at < sqlc.arg(before) AND r.aged_on < sqlc.arg(aged) LIMIT sqlc.arg(most));
