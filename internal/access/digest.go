package access

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Sum is an order-independent digest of a set of items: server and board each keep one and compare them. The zero Sum
// is the empty set.
type Sum [16]byte

// Toggle adds an item that is not in the set, or removes one that is. An item is identified by its kind ("grant",
// "window", "hours", "door") and its canonical JSON.
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

// PhoneKey keys the hashes of one place's phones: 64 hex digits. There are so few phone numbers that an unkeyed hash
// would reveal the number.
type PhoneKey string

// NewPhoneKey derives a place's key from a secret.
func NewPhoneKey(secret []byte, placeID string) PhoneKey {
	return PhoneKey(hex.EncodeToString(mac(secret, "place\n"+placeID)))
}

// Hash is what a board stores instead of a phone: HMAC-SHA-256 under the place's key, hex, first 32 digits; "" without
// a key, which matches nobody.
func (k PhoneKey) Hash(phone string) string {
	key, err := hex.DecodeString(string(k))
	if err != nil || len(key) == 0 {
		return ""
	}
	return hex.EncodeToString(mac(key, "phone\n"+phone)[:16])
}

func mac(key []byte, text string) []byte {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(text))
	return m.Sum(nil)
}

// HashToken is what a board stores instead of an entry token: SHA-256 over place and token, hex, first 32 digits. It
// needs no key, because tokens can't be guessed.
func HashToken(placeID, token string) string {
	h := sha256.Sum256([]byte("token\n" + placeID + "\n" + token))
	return hex.EncodeToString(h[:16])
}
