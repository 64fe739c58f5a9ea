-- name: InsertEvent :exec
INSERT INTO events (id, kind, place_id, door_id, door_name, result, reason, method, actor, actor_label,
	permit_id, external_ref, record_id, occurred_at, recorded_at, late) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: EventsByID :many
SELECT * FROM events WHERE id IN (sqlc.slice('ids')) ORDER BY recorded_at DESC, id DESC;
