-- What changed since a revision is found among what is there and what has left.

-- +goose Up
DROP INDEX grants_rev;
