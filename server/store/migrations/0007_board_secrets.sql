-- Board passwords as hashes. What an older version left in boards.password is
-- hashed and blanked when the world is seeded; generation counts rotations.

-- +goose Up
ALTER TABLE boards ADD COLUMN hash TEXT NOT NULL DEFAULT '';
ALTER TABLE boards ADD COLUMN generation INTEGER NOT NULL DEFAULT 0;
