// Package apikey is the format of API keys: a prefix by kind of place, 30 base62 characters and a 6-character CRC32, so
// that secret scanners and typo checks need no database. The first 8 of the 30 are the place's label, by which a router
// finds its server; the other 22 are random, 131 bits. server/auth issues and checks keys with it; internal/world
// derives a world's keys from its seed.
package apikey

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
	"strings"

	"github.com/doorlab/doorlab/internal/shard"
)

// Prefixes of keys, by kind of place.
const (
	TestPrefix = "sact_"
	LivePrefix = "sacl_"
)

const (
	base62    = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	keyDigits = 30
	sumDigits = 6
)

// New makes a random key for a place.
func New(prefix, placeID string) string {
	return fromBytes(prefix, shard.Label(placeID), func(b []byte) { _, _ = rand.Read(b) }) // never fails
}

// Derive makes a key for a place from a secret and the key's id; the same inputs give the same key.
func Derive(prefix, secret, placeID, keyID string) string {
	return derive(prefix, shard.Label(placeID), secret, placeID, keyID)
}

// DeriveUnlabelled is Derive as it was before keys had labels.
func DeriveUnlabelled(prefix, secret, placeID, keyID string) string {
	return derive(prefix, "", secret, placeID, keyID)
}

func derive(prefix, label, secret, placeID, keyID string) string {
	var n uint64
	return fromBytes(prefix, label, func(b []byte) {
		m := hmac.New(sha256.New, []byte(secret))
		m.Write([]byte(placeID + " " + keyID))
		m.Write(binary.BigEndian.AppendUint64(nil, n))
		n++
		copy(b, m.Sum(nil))
	})
}

func fromBytes(prefix, label string, read func([]byte)) string {
	var b strings.Builder
	b.WriteString(prefix + label)
	for n := len(label); n < keyDigits; {
		var chunk [32]byte
		read(chunk[:])
		for _, c := range chunk {
			if c < 248 && n < keyDigits { // 248 = 4*62: no bias
				b.WriteByte(base62[c%62])
				n++
			}
		}
	}
	return b.String() + checksum(b.String())
}

// checksum is the last six characters of a key, from all the others.
func checksum(body string) string {
	n := crc32.ChecksumIEEE([]byte(body))
	var out [sumDigits]byte
	for i := sumDigits - 1; i >= 0; i-- {
		out[i] = base62[n%62]
		n /= 62
	}
	return string(out[:])
}

// WellFormed reports whether a string has the form of a key: a prefix that ends in "_", the digits, and a correct
// checksum.
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
	return hmac.Equal([]byte(checksum(body)), []byte(key[len(body):]))
}
