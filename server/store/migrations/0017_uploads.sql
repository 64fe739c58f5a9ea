-- A board whose upload was interrupted still has records from before its outage.

-- +goose Up
ALTER TABLE board_states ADD COLUMN uploads_since INTEGER; -- its last contact before them, NULL = it has none
