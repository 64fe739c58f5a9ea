-- An event's own row has a record's prefix, so that events of both tables sort by what follows it.

-- +goose Up
UPDATE events SET id = 'rec_' || substr(id, 5) WHERE id LIKE 'evt_%';
