-- name: Grant :one
SELECT * FROM grants WHERE id = ?;

-- name: GrantByLink :one
SELECT * FROM grants WHERE link_hash = ?;

-- name: GrantByToken :one
SELECT * FROM grants WHERE token_hash = sqlc.arg(hash) AND token_hash <> '' AND place_id = sqlc.arg(place_id);

-- name: PhonesOf :many
SELECT DISTINCT phone FROM grants WHERE place_id = ?;

-- name: GrantsOf :many
SELECT * FROM grants WHERE place_id = ? AND phone = ? ORDER BY id;

-- Changed or gone from the boards' content after a revision. What has left was changed no later than it left:
-- two indexes find the rows, and none of the place's others is looked at.
-- name: GrantsSince :many
SELECT id, kind, phone, token_hash, doors, starts_at, ends_at, revoked_at, rev, left_rev FROM grants WHERE place_id = sqlc.arg(place_id) AND (left_rev IS NULL AND rev > sqlc.arg(rev) OR left_rev > sqlc.arg(rev)) ORDER BY rev, id;

-- name: GrantsLive :many
SELECT id, kind, phone, token_hash, doors, starts_at, ends_at, revoked_at, rev, left_rev FROM grants WHERE place_id = ? AND left_rev IS NULL ORDER BY rev, id;

-- name: GrantsLeaving :many
SELECT * FROM grants WHERE left_rev IS NULL AND leaves_at <= sqlc.arg(now) ORDER BY leaves_at, id LIMIT sqlc.arg(n);

-- name: LeaveContent :exec
UPDATE grants SET left_rev = ?, left_on = ? WHERE id = ?;

-- Left while the machine's clock was ahead.
-- name: GrantsReturning :many
SELECT * FROM grants WHERE left_rev IS NOT NULL AND leaves_at > sqlc.arg(now) ORDER BY leaves_at DESC, id LIMIT sqlc.arg(n);

-- name: ReturnToContent :exec
UPDATE grants SET rev = ?, left_rev = NULL, left_on = 0 WHERE id = ?;

-- name: Links :many
SELECT id FROM grants WHERE kind = 'permit' AND revoked_at IS NULL AND id > sqlc.arg(after) ORDER BY id LIMIT sqlc.arg(most);

-- name: GrantByRef :one
SELECT * FROM grants WHERE place_id = ? AND kind = ? AND source = ? AND external_ref = ?;

-- name: GrantByPhone :one
SELECT * FROM grants WHERE place_id = ? AND phone = ? AND kind = ? AND source = ? AND external_ref IS NULL ORDER BY id LIMIT 1;

-- name: CountGrants :one
SELECT COUNT(*) FROM grants WHERE place_id = ? AND kind = ?;

-- The set of a place's grants is the same as long as both of these are.
-- name: GrantsState :one
SELECT revision, CAST(COALESCE((SELECT value FROM meta WHERE meta.name = 'grants forgotten'), '') AS TEXT) AS forgotten FROM places WHERE places.id = ?;

-- name: GrantsByID :many
SELECT * FROM grants WHERE id IN (sqlc.slice('ids')) ORDER BY created_at DESC, id DESC;

-- name: CountUse :exec
UPDATE grants SET use_count = use_count + 1,
	first_used_at = CASE WHEN first_used_at IS NULL OR first_used_at > sqlc.arg(at) THEN sqlc.arg(at) ELSE first_used_at END
WHERE id = sqlc.arg(id);

-- name: PutGrant :exec
INSERT INTO grants (id, place_id, kind, source, external_ref, phone, name, starts_at, ends_at, doors,
	generation, link_hash, token_hash, created_by, created_at, updated_at, revoked_at, revoke_reason, use_count, first_used_at, rev, leaves_at, left_rev, left_on)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET phone = excluded.phone, name = excluded.name, starts_at = excluded.starts_at,
	ends_at = excluded.ends_at, doors = excluded.doors, generation = excluded.generation, link_hash = excluded.link_hash,
	token_hash = excluded.token_hash, updated_at = excluded.updated_at, revoked_at = excluded.revoked_at,
	revoke_reason = excluded.revoke_reason, rev = excluded.rev,
	leaves_at = excluded.leaves_at, left_rev = excluded.left_rev, left_on = excluded.left_on;

-- Only what has left the content: the rest is in the place's digest.
-- name: ForgetGrants :many
DELETE FROM grants WHERE grants.id IN (SELECT g.id FROM grants g WHERE g.left_rev IS NOT NULL AND g.leaves_at < sqlc.arg(before)
	AND g.left_on < sqlc.arg(aged) ORDER BY g.leaves_at LIMIT sqlc.arg(most)) RETURNING place_id, left_rev;

-- name: PutEarlierHolder :exec
INSERT OR REPLACE INTO earlier_holders (grant_id, phone_hash, actor, label, until) VALUES (?, ?, ?, ?, ?);

-- name: EarlierHolders :many
SELECT phone_hash, actor, label, until FROM earlier_holders WHERE grant_id = ? ORDER BY until DESC;
