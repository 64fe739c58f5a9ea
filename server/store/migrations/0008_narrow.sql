-- What every door command writes: records and events without a table beside their
-- key, unique where there is something to be unique, and no index that nothing reads.

-- +goose Up
CREATE TABLE narrow_records (
    id           TEXT PRIMARY KEY,
    place_id     TEXT NOT NULL,
    door_id      TEXT,
    door_name    TEXT,
    result       TEXT NOT NULL,
    reason       TEXT NOT NULL,
    method       TEXT NOT NULL,
    actor        TEXT NOT NULL,
    actor_label  TEXT NOT NULL,
    command_id   TEXT,
    grant_id     TEXT,
    source       TEXT NOT NULL CHECK (source IN ('server', 'board')),
    dedupe       TEXT, -- board records: once each
    requested_at INTEGER NOT NULL,
    occurred_at  INTEGER NOT NULL,
    recorded_at  INTEGER NOT NULL,
    settled_as   TEXT,
    settled_at   INTEGER,
    replays      INTEGER NOT NULL DEFAULT 0,
    note         TEXT
) WITHOUT ROWID;
INSERT INTO narrow_records SELECT id, place_id, door_id, door_name, result, reason, method, actor, actor_label, command_id, grant_id,
    source, dedupe, requested_at, occurred_at, recorded_at, settled_as, settled_at, replays, note FROM entry_records ORDER BY id;
DROP TABLE entry_records;
ALTER TABLE narrow_records RENAME TO entry_records;
CREATE UNIQUE INDEX entry_records_command ON entry_records (command_id) WHERE command_id IS NOT NULL;
CREATE UNIQUE INDEX entry_records_dedupe ON entry_records (dedupe) WHERE dedupe IS NOT NULL;
CREATE INDEX entry_records_place ON entry_records (place_id, recorded_at DESC, id DESC);

CREATE TABLE narrow_events (
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
) WITHOUT ROWID;
INSERT INTO narrow_events SELECT id, kind, place_id, door_id, door_name, result, reason, method, actor, actor_label, permit_id,
    external_ref, record_id, occurred_at, recorded_at, late FROM events ORDER BY id;
DROP TABLE events;
ALTER TABLE narrow_events RENAME TO events;
CREATE INDEX events_place ON events (place_id, recorded_at DESC, id DESC);
