-- Grants leave the boards' content some time after they ended (grant.LeavesAt). Rows
-- of left_rev NULL are in the content and in the place's digest: never delete those.

-- +goose Up
ALTER TABLE grants ADD COLUMN leaves_at INTEGER; -- NULL: never
ALTER TABLE grants ADD COLUMN left_rev INTEGER;  -- place revision at which it left; NULL: in the content
UPDATE grants SET leaves_at = 604800000 + CASE
    WHEN revoked_at IS NULL THEN ends_at
    WHEN ends_at IS NULL OR ends_at > revoked_at + 2592000000 THEN revoked_at + 2592000000
    ELSE ends_at END;
CREATE INDEX grants_leaving ON grants (leaves_at) WHERE left_rev IS NULL AND leaves_at IS NOT NULL;
CREATE INDEX grants_live ON grants (place_id, rev) WHERE left_rev IS NULL;
CREATE INDEX grants_left ON grants (place_id, left_rev) WHERE left_rev IS NOT NULL;
