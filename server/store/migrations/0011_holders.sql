-- Whose link a board was shown: it names the hash alone.

-- +goose Up
CREATE INDEX grants_token ON grants (token_hash) WHERE token_hash <> '';
