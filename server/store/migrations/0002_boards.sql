-- The command ledger and what is known of boards. Times are Unix milliseconds (UTC).

-- +goose Up
CREATE TABLE commands (
    id           TEXT PRIMARY KEY,
    place_id     TEXT NOT NULL,
    key          TEXT,          -- Idempotency-Key; NULL = none, or forgotten
    meaning      TEXT NOT NULL, -- canonical request under the key
    door_id      TEXT NOT NULL,
    board_id     TEXT NOT NULL,
    command      TEXT NOT NULL,
    minutes      INTEGER NOT NULL,
    reason       TEXT NOT NULL,
    method       TEXT NOT NULL,
    actor        TEXT NOT NULL,
    actor_label  TEXT NOT NULL,
    grant_id     TEXT,
    entry_reason TEXT NOT NULL,
    requested_at INTEGER NOT NULL,
    status       INTEGER NOT NULL, -- the answer; until the outcome is there: the 504
    body         BLOB,
    outcome      TEXT CHECK (outcome IN ('reported', 'offline', 'refused', 'noResponse')),
    device_code  TEXT,
    reported_at  INTEGER
) WITHOUT ROWID;
CREATE UNIQUE INDEX commands_key ON commands (place_id, key) WHERE key IS NOT NULL;
CREATE INDEX commands_unsettled ON commands (id) WHERE outcome IS NULL;

CREATE TABLE board_states (
    board_id           TEXT PRIMARY KEY REFERENCES boards (id),
    first_seen_at      INTEGER NOT NULL, -- first hello: a board is never unknown again
    since              INTEGER NOT NULL,
    last_seen_at       INTEGER NOT NULL,
    online             INTEGER NOT NULL,
    applied_revision   INTEGER NOT NULL,
    digest             TEXT NOT NULL,
    applied_at         INTEGER,
    netloss            TEXT, -- JSON, NULL = never configured
    netloss_applied_at INTEGER,
    standings          TEXT NOT NULL, -- JSON
    dropped            INTEGER NOT NULL
) WITHOUT ROWID;
