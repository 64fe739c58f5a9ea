-- A list of one reference finds its customers by index, whatever their source is.

-- +goose Up
DROP INDEX customers_ref;
CREATE UNIQUE INDEX customers_ref ON customers (place_id, external_ref, source) WHERE external_ref IS NOT NULL;
