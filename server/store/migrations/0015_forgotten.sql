-- The latest revision at which a forgotten grant had left a place's content: a board that is older needs a snapshot.

-- +goose Up
ALTER TABLE places ADD COLUMN forgotten_rev INTEGER NOT NULL DEFAULT 0;
