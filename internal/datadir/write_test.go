package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
)

// loggedDisk is the real disk. It logs every call and makes the n-th one fail.
type loggedDisk struct {
	dir   string // logged names are relative to it
	calls []string
	fail  int // from 1; 0 = never
}

var errDisk = errors.New("input/output error")

func (d *loggedDisk) call(what, path string) error {
	name, _ := filepath.Rel(d.dir, path)
	d.calls = append(d.calls, what+" "+name)
	if len(d.calls) == d.fail {
		return errDisk
	}
	return nil
}

func (d *loggedDisk) Mkdir(path string) error {
	if err := d.call("mkdir", path); err != nil {
		return err
	}
	return osDisk{}.Mkdir(path)
}

func (d *loggedDisk) Create(path string) (file, error) {
	if err := d.call("create", path); err != nil {
		return nil, err
	}
	f, err := osDisk{}.Create(path)
	return &loggedFile{f, d, path}, err
}

func (d *loggedDisk) OpenDir(path string) (file, error) {
	if err := d.call("open", path); err != nil {
		return nil, err
	}
	f, err := osDisk{}.OpenDir(path)
	return &loggedFile{f, d, path}, err
}

func (d *loggedDisk) Rename(from, to string) error {
	if err := d.call("rename", to); err != nil {
		return err
	}
	return osDisk{}.Rename(from, to)
}

type loggedFile struct {
	file
	d    *loggedDisk
	path string
}

func (f *loggedFile) Write(b []byte) (int, error) {
	if err := f.d.call("write", f.path); err != nil {
		return 0, err
	}
	return f.file.Write(b)
}

func (f *loggedFile) Chmod(mode fs.FileMode) error {
	if err := f.d.call(fmt.Sprintf("chmod %04o", mode), f.path); err != nil {
		return err
	}
	return f.file.Chmod(mode)
}

func (f *loggedFile) Sync() error {
	if err := f.d.call("sync", f.path); err != nil {
		return err
	}
	return f.file.Sync()
}

func (f *loggedFile) Close() error { return errors.Join(f.d.call("close", f.path), f.file.Close()) }

// TestSecretIsOnDisk: a power loss at any moment leaves a complete secret or none. The content is synced before it is
// renamed, then the directory that holds it, then any directories that were created above.
func TestSecretIsOnDisk(t *testing.T) {
	t.Parallel()
	d := &loggedDisk{dir: t.TempDir()}
	must.Get(openSecret(d, filepath.Join(d.dir, "a", "b")))(t)
	want := []string{
		"mkdir a/b", "mkdir a", "open .", "sync .", "close .",
		"mkdir a/b", "open a", "sync a", "close a",
		"create a/b/server.secret.new", "write a/b/server.secret.new", "chmod 0600 a/b/server.secret.new", "sync a/b/server.secret.new", "close a/b/server.secret.new",
		"rename a/b/server.secret", "open a/b", "sync a/b", "close a/b",
	}
	if !slices.Equal(d.calls, want) {
		t.Errorf("calls\n%q\nwant\n%q", d.calls, want)
	}
	d.calls = nil
	if _, err := openSecret(d, filepath.Join(d.dir, "a", "b")); err != nil || !slices.Equal(d.calls, []string{"mkdir a/b"}) {
		t.Errorf("reading it again: calls %q, %v, want no write", d.calls, err)
	}
}

// TestSecretOfAFailingDisk: whichever call fails, no secret is handed out that the next start wouldn't find.
func TestSecretOfAFailingDisk(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 18; n++ {
		d := &loggedDisk{dir: t.TempDir(), fail: n}
		dir := filepath.Join(d.dir, "a", "b")
		secret, err := openSecret(d, dir)
		if !errors.Is(err, errDisk) || secret != nil {
			t.Errorf("call %d (%s) fails: secret handed out %t, %v, want %v", n, d.calls[n-1], secret != nil, err, errDisk)
		}
		if b, err := os.ReadFile(filepath.Join(dir, SecretFile)); err == nil && len(b) != secretSize {
			t.Errorf("call %d fails: the secret has %d bytes, want %d or no file", n, len(b), secretSize)
		}
		if _, err := OpenSecret(dir); err != nil {
			t.Errorf("the start after call %d failed: %v, want a secret", n, err)
		}
	}
}
