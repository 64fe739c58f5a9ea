// Package datadir is what all files of a data directory have in common: they are private, durable once written, and
// linked to each other by the id of the directory's secret. The database itself belongs to server/store.
package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// The files of a server's data directory.
const (
	SecretFile   = "server.secret"
	DatabaseFile = "doorlab.db"
	LabFile      = "lab.json"
)

// Errors of a data directory.
var (
	// ErrIncomplete: some of the files that belong together are missing.
	ErrIncomplete = errors.New("the data directory is incomplete")
	// ErrForeign: the files come from different data directories.
	ErrForeign = errors.New("the data directory holds files of different origin")
	// ErrPublic: others can read the directory, and it holds files that aren't doorlab's.
	ErrPublic = errors.New("the data directory can be read by others")
)

// Private creates the directory with mode 0700, or removes others' permissions from an existing one and its files; dir may be a
// link to it. Errors: ErrPublic for a directory that others can read and that holds more than our files; the file system's.
func Private(dir string) error {
	if err := makeDir(osDisk{}, dir); err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(dir) // dir may be a link, which WalkDir doesn't follow
	if err != nil {
		return err
	}
	info, err := os.Stat(real)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(real)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o077 != 0 {
		if other := foreign(entries); other != "" {
			return fmt.Errorf("%w: %s has mode %04o and holds %s, which isn't doorlab's; choose a directory of its own, or chmod 700 it",
				ErrPublic, dir, info.Mode().Perm(), other)
		}
	}
	return tighten(real)
}

// foreign names an entry that doorlab didn't create, "" if there is none.
func foreign(entries []fs.DirEntry) string {
	for _, e := range entries {
		name := e.Name()
		ours := name == SecretFile || name == "boards" || name == "lock" || name == "lost+found" || strings.HasPrefix(name, DatabaseFile) ||
			strings.HasPrefix(name, beforePrefix) || strings.HasSuffix(strings.TrimSuffix(name, ".new"), LabFile) || strings.HasSuffix(name, "lock") ||
			isFleets(name)
		if !ours {
			return name
		}
	}
	return ""
}

// isFleets reports whether a name is one of the simulated boards' files.
func isFleets(name string) bool {
	for _, prefix := range []string{"flash", "journal", "detached", "fleet", "history"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// tighten removes others' permissions from everything in dir.
func tighten(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) { // another process's temporary file
			return nil
		}
		if err != nil || info.Mode()&fs.ModeSymlink != 0 || info.Mode().Perm()&0o077 == 0 {
			return err
		}
		if err := os.Chmod(path, info.Mode().Perm()&0o700); err != nil {
			return fmt.Errorf("%w: %w", ErrPublic, err)
		}
		return nil
	})
}
