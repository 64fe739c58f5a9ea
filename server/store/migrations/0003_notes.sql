-- What the caller says about a command (args.reason), or what was changed.

-- +goose Up
ALTER TABLE entry_records ADD COLUMN note TEXT;
