package access

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Sum is an order-free digest of a set of items: server and board keep one each
// and compare. The zero Sum is the empty set.
type Sum [16]byte

// Toggle adds an item that is not in the set, or takes out one that is. The
// item is named by kind ("grant", "window", "hours", "door") and its canonical JSON.
func (s *Sum) Toggle(kind string, item any) {
	b, err := json.Marshal(item)
	if err != nil {
		panic("access: digest of " + kind + ": " + err.Error()) // our own types always encode
	}
	h := sha256.Sum256(append([]byte(kind+"\n"), b...))
	for i := range s {
		s[i] ^= h[i]
	}
}

// String is 32 hex digits.
func (s Sum) String() string { return hex.EncodeToString(s[:]) }

// HashPhone and HashToken are what a board stores instead of a phone or an
// entry token: SHA-256 over place and value, hex, first 32 digits.
func HashPhone(placeID, phone string) string { return hash("phone", placeID, phone) }

// HashToken hashes an entry token.
func HashToken(placeID, token string) string { return hash("token", placeID, token) }

func hash(kind, placeID, v string) string {
	h := sha256.Sum256([]byte(kind + "\n" + placeID + "\n" + v))
	return hex.EncodeToString(h[:16])
}
