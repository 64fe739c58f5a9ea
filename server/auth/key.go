// Package auth knows who is calling: API keys, the tokens they are exchanged
// for, revocation, and the limit of exchanges. It imports internal/clock, no
// HTTP, SQL or MQTT; it declares the Store it needs.
package auth

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"hash/crc32"
	"strings"
	"time"
)

// Scopes of a key.
const (
	ScopePartner = "space:partner"
	ScopeDoor    = "device:door"
)

// Prefixes of keys, by kind of place.
const (
	TestPrefix = "sact_"
	LivePrefix = "sacl_"
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

const (
	base62    = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	keyDigits = 30
	sumDigits = 6
)

// NewSecret makes a whole key: prefix, 30 base62 characters, and a 6-character
// CRC32 so that a typo or a scanner needs no database.
func NewSecret(prefix string) string {
	var b strings.Builder
	b.WriteString(prefix)
	for n := 0; n < keyDigits; {
		var chunk [64]byte
		_, _ = rand.Read(chunk[:]) // never fails
		for _, c := range chunk {
			if c < 248 && n < keyDigits { // 248 = 4*62: no bias
				b.WriteByte(base62[c%62])
				n++
			}
		}
	}
	return b.String() + Checksum(b.String())
}

// Checksum is the last six characters of a key, from all the others.
func Checksum(body string) string {
	n := crc32.ChecksumIEEE([]byte(body))
	var out [sumDigits]byte
	for i := sumDigits - 1; i >= 0; i-- {
		out[i] = base62[n%62]
		n /= 62
	}
	return string(out[:])
}

// WellFormed reports whether a string has the form of a key: some prefix that
// ends in "_", the digits, and a right checksum.
func WellFormed(key string) bool {
	cut := strings.LastIndexByte(key, '_') + 1
	if cut < 2 || len(key)-cut != keyDigits+sumDigits {
		return false
	}
	for _, c := range []byte(key[cut:]) {
		if strings.IndexByte(base62, c) < 0 {
			return false
		}
	}
	body := key[:len(key)-sumDigits]
	return hmac.Equal([]byte(Checksum(body)), []byte(key[len(body):]))
}

// HashKey is what is stored of a key: HMAC-SHA-256 under the server's pepper.
func HashKey(pepper []byte, key string) string {
	m := hmac.New(sha256.New, pepper)
	m.Write([]byte(key))
	return hex.EncodeToString(m.Sum(nil))
}
