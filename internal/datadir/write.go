package datadir

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// disk is what writing needs from a file system; a test checks the order of the calls.
type disk interface {
	Mkdir(path string) error
	Create(path string) (file, error)
	OpenDir(path string) (file, error)
	Rename(from, to string) error
}

type file interface {
	io.WriteCloser
	Chmod(mode fs.FileMode) error
	Sync() error
}

type osDisk struct{}

func (osDisk) Mkdir(path string) error           { return os.Mkdir(path, 0o700) }
func (osDisk) OpenDir(path string) (file, error) { return os.Open(path) }
func (osDisk) Rename(from, to string) error      { return os.Rename(from, to) }
func (osDisk) Create(path string) (file, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
}

// Write replaces a file atomically. Content and name are durable when it returns.
func Write(path string, b []byte) error { return write(osDisk{}, path, b) }

func write(d disk, path string, b []byte) error {
	tmp := path + ".new"
	f, err := d.Create(tmp)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = errors.Join(f.Chmod(0o600), f.Sync()) // before the rename makes it the file
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := d.Rename(tmp, path); err != nil {
		return err
	}
	return syncDir(d, filepath.Dir(path))
}

// syncDir makes the names in a directory durable.
func syncDir(d disk, dir string) error {
	f, err := d.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// makeDir creates a directory and its parents; each name is durable when it returns.
func makeDir(d disk, dir string) error {
	above := filepath.Dir(dir)
	err := d.Mkdir(dir)
	if errors.Is(err, fs.ErrNotExist) && above != dir {
		if err := makeDir(d, above); err != nil {
			return err
		}
		err = d.Mkdir(dir)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil // not a directory: its user will report that
	}
	if err != nil {
		return err
	}
	return syncDir(d, above)
}
