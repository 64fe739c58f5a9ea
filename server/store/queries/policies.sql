-- name: PoliciesOfPlace :many
SELECT * FROM windows WHERE place_id = ? ORDER BY created_at, id;

-- name: PoliciesOfDoor :many
SELECT * FROM windows WHERE place_id = ? AND door_id = ? ORDER BY created_at, id;

-- name: InsertPolicy :exec
INSERT INTO windows (id, place_id, door_id, ref, mode, week, starts_at, ends_at, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: DeletePolicy :exec
DELETE FROM windows WHERE id = ?;
