-- When the server wrote a row, as a day of running time (server/age): the row's own
-- dates are what the machine's clock claimed. 0: written before this; its date counts.

-- +goose Up
ALTER TABLE entry_records ADD COLUMN aged_on INTEGER NOT NULL DEFAULT 0;
ALTER TABLE events ADD COLUMN aged_on INTEGER NOT NULL DEFAULT 0;
ALTER TABLE audit ADD COLUMN aged_on INTEGER NOT NULL DEFAULT 0;
ALTER TABLE place_revisions ADD COLUMN aged_on INTEGER NOT NULL DEFAULT 0;
ALTER TABLE grants ADD COLUMN left_on INTEGER NOT NULL DEFAULT 0; -- day of running time at which it left the content
