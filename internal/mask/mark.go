package mask

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"sync"
)

// marks are hashes with a key that is this process's own, and is never stored: there are so few telephone numbers that all of
// them could be tried. Setting one up costs more than using it, and the inbox marks every request.
var marks = sync.Pool{New: func() any { return hmac.New(sha256.New, markKey()) }}

var markKey = sync.OnceValue(func() []byte { return []byte(rand.Text()) })

// Mark stands for a secret or a long text: 16 hex digits, "" for "". Equal marks mean equal texts, but only among the marks
// of one process.
func Mark(text string) string {
	if text == "" {
		return ""
	}
	h := marks.Get().(hash.Hash)
	defer marks.Put(h)
	h.Reset()
	_, _ = io.WriteString(h, text) // never fails
	var sum [sha256.Size]byte
	return hex.EncodeToString(h.Sum(sum[:0])[:8])
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
