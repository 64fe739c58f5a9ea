// Package db is the store's SQL as Go: sqlc compiles it from queries/*.sql over
// migrations/*.sql (make generate). It is private to server/store.
package db
