-- name: CustomerByRef :one
SELECT * FROM customers WHERE place_id = ? AND source = ? AND external_ref = ?;

-- name: CustomerByPhone :one
SELECT * FROM customers WHERE place_id = ? AND phone = ? AND source = ? ORDER BY external_ref IS NOT NULL, id LIMIT 1;

-- name: HasCustomer :one
SELECT EXISTS (SELECT 1 FROM customers WHERE place_id = ? AND phone = ?);

-- name: PutCustomer :exec
INSERT INTO customers (id, place_id, source, external_ref, phone, name, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET external_ref = excluded.external_ref, phone = excluded.phone, name = excluded.name, updated_at = excluded.updated_at;

-- name: CustomersByID :many
SELECT * FROM customers WHERE id IN (sqlc.slice('ids')) ORDER BY created_at DESC, id DESC;
