-- A list goes by number, which an index has by itself.

-- +goose Up
DROP INDEX audit_place;
CREATE INDEX audit_place ON audit (place_id);
