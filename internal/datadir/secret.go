package datadir

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Secret is 32 random bytes. It is never used directly: Of derives a secret for each purpose.
type Secret []byte

// secretSize is how many bytes a secret has.
const secretSize = 32

// OpenSecret reads the secret of a data directory, or creates one, durably. Errors: a damaged file; ErrIncomplete if
// the database exists without its secret; the file system's.
func OpenSecret(dir string) (Secret, error) { return openSecret(osDisk{}, dir) }

func openSecret(d disk, dir string) (Secret, error) {
	if err := makeDir(d, dir); err != nil { // nothing has looked into it yet
		return nil, err
	}
	path := filepath.Join(dir, SecretFile)
	b, err := os.ReadFile(path)
	if err == nil && len(b) == secretSize {
		return b, nil
	}
	if err == nil {
		return nil, fmt.Errorf("%s is damaged: it has %d bytes, must have %d; restore it from the backup", SecretFile, len(b), secretSize)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if there(dir, DatabaseFile) {
		return nil, fmt.Errorf("%w: %s is there, %s is missing", ErrIncomplete, DatabaseFile, SecretFile)
	}
	b = make([]byte, secretSize)
	_, _ = rand.Read(b) // never fails
	if err := write(d, path, b); err != nil {
		return nil, err
	}
	return b, nil
}

// OpenShared reads a secret that several processes share, from a file of at least 32 characters. With create, a missing
// file is created with a random one. Errors: too short, missing, the file system's.
func OpenShared(path string, create bool) (Secret, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && create {
		raw := make([]byte, secretSize)
		_, _ = rand.Read(raw) // never fails
		b = []byte(hex.EncodeToString(raw) + "\n")
		err = Write(path, b)
	}
	if err != nil {
		return nil, err
	}
	for len(b) > 0 && (b[len(b)-1] == '\n' || b[len(b)-1] == '\r') {
		b = b[:len(b)-1]
	}
	if len(b) < secretSize {
		return nil, fmt.Errorf("%s has %d characters, must have at least %d", path, len(b), secretSize)
	}
	sum := sha256.Sum256(b)
	return sum[:], nil
}

// Of derives the 32-byte secret for one purpose.
func (s Secret) Of(purpose string) []byte {
	m := hmac.New(sha256.New, s)
	m.Write([]byte(purpose))
	return m.Sum(nil)
}

// ID identifies the secret without revealing it. The database and lab.json store it, so that files of different origin
// don't start together.
func (s Secret) ID() string { return hex.EncodeToString(s.Of("id")[:16]) }
