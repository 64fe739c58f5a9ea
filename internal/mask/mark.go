package mask

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"sync"
)

// markKey is this process's own, and is never stored: there are so few telephone numbers that all of them could be tried.
var markKey = sync.OnceValue(func() []byte { return []byte(rand.Text()) })

// Mark stands for a secret or a long text: 16 hex digits, "" for "". Equal marks mean equal texts, but only among the marks
// of one process.
func Mark(text string) string {
	if text == "" {
		return ""
	}
	h := hmac.New(sha256.New, markKey())
	h.Write([]byte(text)) // never fails
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// Marked is a text as it is, or its Mark if Text would mask something in it.
func Marked(text string) string {
	if Text(text) != text {
		return Mark(text)
	}
	return text
}

// MarkedField is Marked for the value of a field, which is also secret if the field's name says so.
func MarkedField(name, value string) string {
	if byName[name] {
		return Mark(value)
	}
	return Marked(value)
}
