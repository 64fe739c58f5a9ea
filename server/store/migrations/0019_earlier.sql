-- Whom a grant was for before it was made somebody else's: a board that was cut off may still send records of them.

-- +goose Up
CREATE TABLE earlier_holders (
	grant_id   TEXT NOT NULL REFERENCES grants (id) ON DELETE CASCADE,
	phone_hash TEXT NOT NULL, -- as boards know it
	actor      TEXT NOT NULL, -- as records show it
	label      TEXT NOT NULL,
	until      INTEGER NOT NULL,
	PRIMARY KEY (grant_id, phone_hash)
) WITHOUT ROWID;
