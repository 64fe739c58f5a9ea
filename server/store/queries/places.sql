-- name: Place :one
SELECT * FROM places WHERE id = ?;

-- name: PlaceByPhone :one
SELECT * FROM places WHERE entry_phone = ?;

-- name: Places :many
SELECT * FROM places ORDER BY id;

-- name: Revisions :many
SELECT id, revision FROM places ORDER BY id;

-- name: InsertPlace :exec
INSERT INTO places (id, name, kind, timezone, entry_phone, phone_enabled, permit_max_hours, week, closures, holidays)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: UpdatePlace :exec
UPDATE places SET timezone = ?, entry_phone = ?, phone_enabled = ?, week = ?, closures = ?, holidays = ? WHERE id = ?;

-- name: RenamePlace :exec
UPDATE places SET name = ? WHERE id = ?;

-- name: PhoneTaken :one
SELECT COUNT(*) FROM places WHERE entry_phone = ? AND id <> ?;

-- name: Door :one
SELECT * FROM doors WHERE id = ?;

-- In the order of the world file.
-- name: DoorsOfPlace :many
SELECT * FROM doors WHERE place_id = ? ORDER BY position, id;

-- name: DoorsByChannel :many
SELECT * FROM doors ORDER BY channel, id;

-- name: InsertDoor :exec
INSERT INTO doors (id, place_id, board_id, name, channel, entry, permit_max_hours, position) VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: RenameDoor :exec
UPDATE doors SET name = ? WHERE id = ?;

-- name: UpdateDoor :exec
UPDATE doors SET entry = ?, permit_max_hours = ? WHERE id = ?;
