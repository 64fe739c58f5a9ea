-- name: Board :one
SELECT * FROM boards WHERE id = ?;

-- name: Boards :many
SELECT * FROM boards ORDER BY id;

-- name: BoardsOfPlace :many
SELECT * FROM boards WHERE place_id = ? ORDER BY id;

-- name: InsertBoard :exec
INSERT INTO boards (id, place_id, name, password, hash) VALUES (?, ?, ?, '', ?);

-- name: RenameBoard :exec
UPDATE boards SET name = ? WHERE id = ?;

-- What an older version left in clear.
-- name: ClearPasswords :many
SELECT id, password FROM boards WHERE password <> '';

-- name: SetBoardHash :exec
UPDATE boards SET hash = ?, password = '' WHERE id = ?;

-- name: RotateBoard :execrows
UPDATE boards SET hash = ?, generation = ? WHERE id = ?;

-- Those whose password was rotated.
-- name: RotatedBoards :many
SELECT id, hash, generation FROM boards WHERE generation > 0;

-- Every board; the state's columns are NULL until its first hello.
-- name: BoardStates :many
SELECT b.id, b.place_id, b.hash, s.first_seen_at, s.since, s.last_seen_at, COALESCE(s.online, 0) AS online,
	s.applied_revision, s.digest, s.applied_at, s.netloss, s.netloss_applied_at, s.standings, s.dropped, s.uploads_since
FROM boards b LEFT JOIN board_states s ON s.board_id = b.id ORDER BY b.id;

-- name: PutBoardState :exec
INSERT INTO board_states (board_id, first_seen_at, since, last_seen_at, online, applied_revision, digest,
	applied_at, netloss, netloss_applied_at, standings, dropped, uploads_since) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (board_id) DO UPDATE SET since = excluded.since, last_seen_at = excluded.last_seen_at, online = excluded.online,
	applied_revision = excluded.applied_revision, digest = excluded.digest, applied_at = excluded.applied_at,
	netloss = excluded.netloss, netloss_applied_at = excluded.netloss_applied_at,
	standings = excluded.standings, dropped = excluded.dropped, uploads_since = excluded.uploads_since;
