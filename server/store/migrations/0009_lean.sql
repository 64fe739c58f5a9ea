-- What a command's writes touch: the opening of a plain command is its record, not
-- a row beside it, and keys that rise with time stay together.

-- +goose Up
ALTER TABLE entry_records ADD COLUMN is_event INTEGER NOT NULL DEFAULT 0; -- 1: the record is its entry.opened event as well
DROP INDEX entry_records_place;
CREATE INDEX entry_records_place ON entry_records (place_id, recorded_at DESC, id DESC, is_event);
DROP INDEX commands_key;
CREATE UNIQUE INDEX commands_key ON commands (key, place_id) WHERE key IS NOT NULL;
