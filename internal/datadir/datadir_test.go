package datadir

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/must"
)

func put(t *testing.T, dir, name, text string, mode fs.FileMode) {
	t.Helper()
	path := filepath.Join(dir, name)
	must.OK(t, os.WriteFile(path, []byte(text), mode))
	must.OK(t, os.Chmod(path, mode))
}

func TestSecretIsRemembered(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := must.Get(OpenSecret(dir))(t)
	again, err := OpenSecret(dir)
	if err != nil || !bytes.Equal(first.Of("x"), again.Of("x")) || first.ID() != again.ID() {
		t.Errorf("the secret changed across a restart (%v), want the same", err)
	}
	if bytes.Equal(first.Of("x"), first.Of("y")) || len(first.Of("x")) != 32 {
		t.Errorf("purposes x and y: %d bytes, want 32, each its own", len(first.Of("x")))
	}
	other, err := OpenSecret(t.TempDir())
	if err != nil || bytes.Equal(first.Of("x"), other.Of("x")) {
		t.Errorf("two directories have the same secret (%v), want different ones", err)
	}
	put(t, dir, SecretFile, "short", 0o600)
	if _, err := OpenSecret(dir); err == nil {
		t.Error("a damaged secret was accepted")
	}
	lost := t.TempDir()
	put(t, lost, DatabaseFile, "rows", 0o600)
	if _, err := OpenSecret(lost); !errors.Is(err, ErrIncomplete) {
		t.Errorf("a database without its secret: %v, want ErrIncomplete", err)
	}
}

func TestSharedSecret(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "shared")
	if _, err := OpenShared(path, false); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: got %v, want %v", err, fs.ErrNotExist)
	}
	made := must.Get(OpenShared(path, true))(t)
	read, err := OpenShared(path, false)
	if err != nil || !bytes.Equal(made, read) {
		t.Errorf("the other process reads a different secret (%v), want the same", err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got mode %v, %v, want 0600", info.Mode(), err)
	}
	must.OK(t, os.WriteFile(path, []byte("too short\n"), 0o600))
	if _, err := OpenShared(path, true); err == nil {
		t.Error("nine characters were taken for a secret")
	}
}

func TestPrivate(t *testing.T) {
	t.Parallel()
	for _, linked := range []bool{false, true} {
		dir := t.TempDir()
		must.OK(t, os.Mkdir(filepath.Join(dir, "boards"), 0o755))
		put(t, dir, DatabaseFile, "phones", 0o644)
		put(t, dir, "boards/journal.ndjson", "x", 0o644)
		must.OK(t, os.Chmod(dir, 0o755))
		given := dir
		if linked {
			given = filepath.Join(t.TempDir(), "link")
			must.OK(t, os.Symlink(dir, given))
		}
		must.OK(t, Private(given))
		for name, want := range map[string]fs.FileMode{".": 0o700, DatabaseFile: 0o600, "boards": 0o700, "boards/journal.ndjson": 0o600} {
			info, err := os.Stat(filepath.Join(dir, name))
			if err != nil || info.Mode().Perm() != want {
				t.Errorf("linked %v, %s: mode %04o, %v, want %04o", linked, name, info.Mode().Perm(), err, want)
			}
		}
	}

	shared := t.TempDir()
	must.OK(t, os.Chmod(shared, 0o755))
	put(t, shared, "holiday.jpg", "x", 0o644)
	if err := Private(shared); !errors.Is(err, ErrPublic) {
		t.Errorf("somebody's directory: %v, want ErrPublic", err)
	}
	if info, err := os.Stat(shared); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("its mode became %v, %v, want 0755 as before", info.Mode(), err)
	}
}

// TestWhole: a start fails if any of the three files is missing, unless the first start was interrupted.
func TestWhole(t *testing.T) {
	t.Parallel()
	if fresh, err := Whole(t.TempDir(), false); err != nil || !fresh {
		t.Errorf("an empty directory: fresh %v, %v, want true", fresh, err)
	}
	all := []string{SecretFile, DatabaseFile, LabFile}
	for _, gone := range all {
		dir := t.TempDir()
		for _, name := range all {
			put(t, dir, name, "x", 0o600)
		}
		if fresh, err := Whole(dir, false); err != nil || fresh {
			t.Errorf("a complete directory: fresh %v, %v, want false", fresh, err)
		}
		put(t, dir, gone, "", 0o600) // an empty file counts as missing
		if _, err := Whole(dir, false); !errors.Is(err, ErrIncomplete) {
			t.Errorf("without %s: %v, want ErrIncomplete", gone, err)
		}
		if _, err := Whole(dir, true); err != nil {
			t.Errorf("without %s, in a first start: got %v, want no error", gone, err)
		}
		must.OK(t, StartOver(dir, time.Unix(0, 0)))
		if fresh, err := Whole(dir, false); err != nil || !fresh {
			t.Errorf("after StartOver: fresh %v, %v, want true", fresh, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "before-19700101-000000", gone)); err != nil {
			t.Errorf("the previous contents aren't kept: %v", err)
		}
	}
}
