-- Time that keys age by (server/command), and what the end of a retention is found by.

-- +goose Up
ALTER TABLE commands ADD COLUMN aged_at INTEGER NOT NULL DEFAULT 0;
UPDATE commands SET aged_at = requested_at;
CREATE INDEX commands_aged ON commands (aged_at);
CREATE INDEX grants_gone ON grants (leaves_at) WHERE left_rev IS NOT NULL;
