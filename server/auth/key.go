// Package auth knows who is calling: API keys, the tokens they are exchanged for, revocation, and the limit on
// exchanges. It declares the Store it needs.
package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// Scopes of a key.
const (
	ScopePartner = "space:partner"
	ScopeDoor    = "device:door"
)

// Key is an issued API key, without its secret.
type Key struct {
	ID        string
	PlaceID   string
	Name      string
	Scopes    []string
	Sim       bool // may ask the test place for outcomes with "sim:" reasons
	CreatedAt time.Time
	RevokedAt time.Time // zero = valid
}

// HashKey is what is stored of a key: HMAC-SHA-256 under the server's pepper.
func HashKey(pepper []byte, key string) string {
	m := hmac.New(sha256.New, pepper)
	m.Write([]byte(key))
	return hex.EncodeToString(m.Sum(nil))
}
