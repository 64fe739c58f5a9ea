package board

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// HashPassword is what is stored of a board's password: HMAC-SHA-256 under the
// server's pepper, so that the database alone reveals none.
func HashPassword(pepper []byte, boardID, password string) string {
	m := hmac.New(sha256.New, pepper)
	m.Write([]byte("board " + boardID + "\n" + password))
	return hex.EncodeToString(m.Sum(nil))
}

// Rotated is a board whose password was changed.
type Rotated struct {
	BoardID      string
	PasswordHash string
	Generation   int64 // 1 after the first rotation
}
