-- Places, doors, keys, grants, records. Times are Unix milliseconds (UTC).

-- +goose Up
CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE places (
    id               TEXT PRIMARY KEY,
    name             TEXT NOT NULL,
    kind             TEXT NOT NULL CHECK (kind IN ('test', 'live')),
    timezone         TEXT NOT NULL,
    entry_phone      TEXT,
    phone_enabled    INTEGER NOT NULL DEFAULT 1,
    permit_max_hours INTEGER NOT NULL DEFAULT 720,
    week             TEXT NOT NULL, -- JSON
    closures         TEXT NOT NULL, -- JSON
    holidays         TEXT NOT NULL, -- JSON
    revision         INTEGER NOT NULL DEFAULT 0,
    digest           TEXT NOT NULL DEFAULT '00000000000000000000000000000000',
    hours_rev        INTEGER NOT NULL DEFAULT 0,
    windows_rev      INTEGER NOT NULL DEFAULT 0,
    doors_rev        INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX places_entry_phone ON places (entry_phone) WHERE entry_phone IS NOT NULL;

CREATE TABLE place_revisions (
    place_id TEXT NOT NULL,
    rev      INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    digest   TEXT NOT NULL,
    PRIMARY KEY (place_id, rev)
) WITHOUT ROWID;

CREATE TABLE boards (
    id       TEXT PRIMARY KEY,
    place_id TEXT NOT NULL REFERENCES places (id),
    name     TEXT NOT NULL,
    password TEXT NOT NULL
);
CREATE INDEX boards_place ON boards (place_id, id);

CREATE TABLE doors (
    id               TEXT PRIMARY KEY,
    place_id         TEXT NOT NULL REFERENCES places (id),
    board_id         TEXT NOT NULL REFERENCES boards (id),
    name             TEXT NOT NULL,
    channel          INTEGER NOT NULL,
    entry            INTEGER NOT NULL,
    permit_max_hours INTEGER NOT NULL,
    position         INTEGER NOT NULL -- order of the world file: "the first entry door"
);
CREATE INDEX doors_place ON doors (place_id, position);
CREATE INDEX doors_board ON doors (board_id, channel);

CREATE TABLE keys (
    id         TEXT PRIMARY KEY,
    place_id   TEXT NOT NULL REFERENCES places (id),
    name       TEXT NOT NULL,
    hash       TEXT NOT NULL UNIQUE,
    scopes     TEXT NOT NULL, -- JSON
    sim        INTEGER NOT NULL DEFAULT 0,
    world      INTEGER NOT NULL DEFAULT 0, -- from the world file
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
);
CREATE INDEX keys_place ON keys (place_id, id);
CREATE INDEX keys_revoked ON keys (revoked_at) WHERE revoked_at IS NOT NULL;

CREATE TABLE grants (
    id            TEXT PRIMARY KEY,
    place_id      TEXT NOT NULL REFERENCES places (id),
    kind          TEXT NOT NULL CHECK (kind IN ('permit', 'reservation', 'membership')),
    source        TEXT NOT NULL DEFAULT '',
    external_ref  TEXT,
    phone         TEXT NOT NULL,
    name          TEXT NOT NULL DEFAULT '',
    starts_at     INTEGER NOT NULL,
    ends_at       INTEGER,
    doors         TEXT NOT NULL, -- JSON, sorted
    generation    INTEGER NOT NULL DEFAULT 0,
    link_hash     TEXT,
    token_hash    TEXT NOT NULL DEFAULT '',
    created_by    TEXT NOT NULL DEFAULT '',
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    revoked_at    INTEGER,
    revoke_reason TEXT,
    use_count     INTEGER NOT NULL DEFAULT 0,
    first_used_at INTEGER,
    rev           INTEGER NOT NULL
);
CREATE UNIQUE INDEX grants_ref ON grants (place_id, kind, source, external_ref) WHERE external_ref IS NOT NULL;
CREATE INDEX grants_phone ON grants (place_id, phone);
CREATE UNIQUE INDEX grants_link ON grants (link_hash) WHERE link_hash IS NOT NULL;
CREATE INDEX grants_rev ON grants (place_id, rev);
CREATE INDEX grants_list ON grants (place_id, kind, created_at DESC, id DESC);

CREATE TABLE customers (
    id           TEXT PRIMARY KEY,
    place_id     TEXT NOT NULL REFERENCES places (id),
    source       TEXT NOT NULL,
    external_ref TEXT,
    phone        TEXT NOT NULL,
    name         TEXT NOT NULL DEFAULT '',
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL
);
CREATE UNIQUE INDEX customers_ref ON customers (place_id, source, external_ref) WHERE external_ref IS NOT NULL;
CREATE INDEX customers_phone ON customers (place_id, phone);
CREATE INDEX customers_list ON customers (place_id, created_at DESC, id DESC);

CREATE TABLE windows (
    id         TEXT PRIMARY KEY,
    place_id   TEXT NOT NULL REFERENCES places (id),
    door_id    TEXT NOT NULL REFERENCES doors (id),
    ref        TEXT NOT NULL,
    mode       TEXT NOT NULL,
    week       TEXT, -- JSON, custom only
    starts_at  INTEGER NOT NULL DEFAULT 0,
    ends_at    INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL
);
CREATE INDEX windows_place ON windows (place_id, door_id);

CREATE TABLE entry_records (
    id           TEXT PRIMARY KEY,
    place_id     TEXT NOT NULL,
    door_id      TEXT,
    door_name    TEXT,
    result       TEXT NOT NULL,
    reason       TEXT NOT NULL,
    method       TEXT NOT NULL,
    actor        TEXT NOT NULL,
    actor_label  TEXT NOT NULL,
    command_id   TEXT UNIQUE,
    grant_id     TEXT,
    source       TEXT NOT NULL CHECK (source IN ('server', 'board')),
    dedupe       TEXT UNIQUE, -- board records: once each
    requested_at INTEGER NOT NULL,
    occurred_at  INTEGER NOT NULL,
    recorded_at  INTEGER NOT NULL,
    settled_as   TEXT,
    settled_at   INTEGER,
    replays      INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX entry_records_place ON entry_records (place_id, recorded_at DESC, id DESC);
CREATE INDEX entry_records_requested ON entry_records (place_id, requested_at DESC, id DESC);

CREATE TABLE events (
    id           TEXT PRIMARY KEY,
    kind         TEXT NOT NULL,
    place_id     TEXT NOT NULL,
    door_id      TEXT,
    door_name    TEXT,
    result       TEXT NOT NULL,
    reason       TEXT NOT NULL,
    method       TEXT NOT NULL,
    actor        TEXT NOT NULL,
    actor_label  TEXT NOT NULL,
    permit_id    TEXT,
    external_ref TEXT,
    record_id    TEXT NOT NULL,
    occurred_at  INTEGER NOT NULL,
    recorded_at  INTEGER NOT NULL,
    late         INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX events_place ON events (place_id, recorded_at DESC, id DESC);

CREATE TABLE audit (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    at         INTEGER NOT NULL,
    place_id   TEXT NOT NULL,
    key_id     TEXT NOT NULL,
    request_id TEXT NOT NULL DEFAULT '',
    action     TEXT NOT NULL,
    detail     TEXT NOT NULL DEFAULT '',
    count      INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX audit_place ON audit (place_id, at);
