package world

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/doorlab/doorlab/internal/apikey"
)

// MinPassword is the minimum length of a board's password.
const MinPassword = 16

// DeriveSecrets fills in the keys and board passwords that the file doesn't give. They derive from root, which must be
// secret; the keys of test places derive from the seed, so that they are the same on every machine. With a nil root
// everything derives from the seed: repeatable, and known to anyone who guesses it.
func (w *World) DeriveSecrets(root []byte) { w.derive(root, apikey.Derive) }

// DeriveUnlabelled is DeriveSecrets for data from before keys had labels, whose server knows the keys derived then.
func (w *World) DeriveUnlabelled(root []byte) { w.derive(root, apikey.DeriveUnlabelled) }

func (w *World) derive(root []byte, key func(prefix, secret, placeID, keyID string) string) {
	seed := fmt.Append(nil, "doorlab world ", w.Seed)
	if root == nil {
		root = seed
	}
	for i := range w.Places {
		p := &w.Places[i]
		prefix, of := apikey.LivePrefix, root
		if p.Kind == Test {
			prefix, of = apikey.TestPrefix, seed
		}
		for j := range p.Keys {
			k := &p.Keys[j]
			k.Secret = key(prefix, string(of), p.ID, k.ID)
		}
		for j := range p.Boards {
			if b := &p.Boards[j]; !b.Given {
				b.Password = BoardPassword(root, b.ID, 0)
			}
		}
	}
}

// BoardPassword derives a board's password: the first with generation 0, another with every rotation.
func BoardPassword(root []byte, boardID string, generation int64) string {
	m := hmac.New(sha256.New, root)
	fmt.Fprint(m, "board password ", boardID, " ", generation)
	return hex.EncodeToString(m.Sum(nil)[:16])
}

// PasswordsGiven reports whether the file names the password of every live board.
func (w *World) PasswordsGiven() bool {
	for _, p := range w.Places {
		for _, b := range p.Boards {
			if p.Kind == Live && !b.Given {
				return false
			}
		}
	}
	return true
}

// HasLive reports whether the world has a live place, whose secrets open real doors.
func (w *World) HasLive() bool {
	return slices.ContainsFunc(w.Places, func(p Place) bool { return p.Kind == Live })
}
