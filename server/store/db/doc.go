// Package db is the store's SQL as Go: sqlc makes it of queries/*.sql over
// migrations/*.sql (make generate). Only server/store may import it.
package db
