-- name: InsertEvent :exec
INSERT INTO events (id, kind, place_id, door_id, door_name, result, reason, method, actor, actor_label,
	permit_id, external_ref, record_id, occurred_at, recorded_at, late, aged_on) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: EventsByID :many
SELECT * FROM events WHERE id IN (sqlc.slice('ids')) ORDER BY recorded_at DESC, id DESC;

-- See ForgetRecords.
-- name: ForgetEvents :execrows
DELETE FROM events WHERE events.id IN (SELECT e.id FROM events e WHERE e.place_id = sqlc.arg(place_id)
	AND e.recorded_at < sqlc.arg(before) AND e.aged_on < sqlc.arg(aged) LIMIT sqlc.arg(most));
