-- name: Revision :one
SELECT revision FROM places WHERE id = ?;

-- name: PlaceDigest :one
SELECT revision, digest FROM places WHERE id = ?;

-- What boards are told about, and since when each part is as it is.
-- name: PlaceParts :one
SELECT revision, digest, timezone, hours_rev, windows_rev, doors_rev, forgotten_rev FROM places WHERE id = ?;

-- name: SetRevision :exec
UPDATE places SET revision = ?, digest = ? WHERE id = ?;

-- name: SetForgottenRev :exec
UPDATE places SET forgotten_rev = MAX(forgotten_rev, sqlc.arg(rev)) WHERE id = sqlc.arg(id);

-- name: SetHoursRev :exec
UPDATE places SET hours_rev = ? WHERE id = ?;

-- name: SetWindowsRev :exec
UPDATE places SET windows_rev = ? WHERE id = ?;

-- name: SetDoorsRev :exec
UPDATE places SET doors_rev = ? WHERE id = ?;

-- name: SetAllRevs :exec
UPDATE places SET hours_rev = sqlc.arg(rev), windows_rev = sqlc.arg(rev), doors_rev = sqlc.arg(rev) WHERE id = sqlc.arg(id);
