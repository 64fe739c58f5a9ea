-- name: InsertEvent :exec
INSERT INTO events (id, kind, place_id, door_id, door_name, result, reason, method, actor, actor_label,
	permit_id, external_ref, record_id, occurred_at, recorded_at, late) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: EventsByID :many
SELECT * FROM events WHERE id IN (sqlc.slice('ids')) ORDER BY recorded_at DESC, id DESC;

-- Ids sort by time, so it looks at the oldest only.
-- name: ForgetEvents :execrows
DELETE FROM events WHERE events.id IN (SELECT e.id FROM events e ORDER BY e.id LIMIT sqlc.arg(oldest)) AND events.recorded_at < sqlc.arg(before);
