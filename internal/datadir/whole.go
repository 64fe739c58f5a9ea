package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// beforePrefix begins the name of the folder that StartOver moves old files to.
const beforePrefix = "before-"

// there reports whether a file exists and isn't empty.
func there(dir, name string) bool {
	info, err := os.Stat(filepath.Join(dir, name))
	return err == nil && info.Size() > 0
}

// Whole checks that the files that belong together are either all there or all missing. begun: a first start was
// interrupted before anything was answered. Errors: ErrIncomplete, with the names.
func Whole(dir string, begun bool) (fresh bool, err error) {
	var have, missing []string
	for _, name := range []string{SecretFile, DatabaseFile, LabFile} {
		if there(dir, name) {
			have = append(have, name)
		} else {
			missing = append(missing, name)
		}
	}
	if len(have) == 0 || begun {
		return true, nil
	}
	if len(missing) > 0 {
		return false, fmt.Errorf("%w: %s has %s, but not %s; restore the backup, or start over with --init (what is left moves to a subfolder)",
			ErrIncomplete, dir, strings.Join(have, " and "), strings.Join(missing, " and "))
	}
	return false, nil
}

// StartOver moves the contents of a data directory into a subfolder named by the time.
func StartOver(dir string, now time.Time) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	to := filepath.Join(dir, beforePrefix+now.UTC().Format("20060102-150405"))
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == "lock" || strings.HasPrefix(e.Name(), beforePrefix) {
			continue
		}
		if err := os.Rename(filepath.Join(dir, e.Name()), filepath.Join(to, e.Name())); err != nil {
			return err
		}
	}
	return syncDir(osDisk{}, dir)
}
