-- What a permit's write touches: keys that rise with time stay together, and what nothing
-- reads isn't written. A place's revision and digest are in its own row.

-- +goose Up
DROP INDEX grants_ref;
CREATE UNIQUE INDEX grants_ref ON grants (external_ref, place_id, kind, source) WHERE external_ref IS NOT NULL;
DROP INDEX grants_phone;
CREATE INDEX grants_phone ON grants (phone, place_id);
DROP TABLE place_revisions;
