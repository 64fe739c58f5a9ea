package main

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"github.com/gofrs/flock"

	"github.com/doorlab/doorlab/internal/report"
)

// clearOut makes the run directory, or removes what an earlier run left in it.
func clearOut(out string) error {
	return trouble("--out", report.ClearDir(out))
}

// writableOut checks that files can be written into a directory, and leaves things as they were: what will write there
// has yet to begin.
func writableOut(out string) error {
	unmake, err := makeOut(out)
	if err == nil {
		probe := ""
		if probe, err = os.MkdirTemp(out, ".doorlab-"); err == nil {
			err = os.Remove(probe)
		}
	}
	unmake()
	return trouble("--out", err)
}

// free refuses a directory in which a run would replace what no run wrote.
func free(out string, load bool) error {
	if name := report.Strange(out, load); name != "" {
		return usagef("--out %s: it isn't a run directory, and its %s would be replaced; give the run a directory of its own", out, name)
	}
	return nil
}

// hold takes the run directory for this process: two runs in one would mix their reports. release gives it back, and
// removes it if nothing was written there.
func hold(out string, load bool) (release func(), err error) {
	if err := free(out, load); err != nil {
		return nil, err
	}
	unmake, err := makeOut(out)
	lock := flock.New(filepath.Join(out, report.RunningFile))
	free := false
	if err == nil {
		if free, err = lock.TryLock(); errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.ENOLCK) {
			free, err = true, nil // some file systems have no locks
		}
	}
	switch {
	case err != nil:
		unmake()
		return nil, failf("--out: %s", reason(err))
	case !free:
		return nil, failf("--out: another run is writing to %s; give this one a directory of its own, or wait for the other", out)
	}
	return func() {
		_ = errors.Join(os.Remove(lock.Path()), lock.Unlock()) // a file that stays is free for the next run
		unmake()
	}, nil
}

// makeOut makes a directory; unmake removes what was made, as far as it is still empty.
func makeOut(out string) (unmake func(), err error) {
	made := ""
	for at := out; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(at); err == nil || at == filepath.Dir(at) {
			break
		}
		made = at
	}
	return func() {
		for at := out; made != ""; at = filepath.Dir(at) {
			if left := os.Remove(at); left != nil && !errors.Is(left, os.ErrNotExist) || at == made { // what somebody put there stays
				break
			}
		}
	}, os.MkdirAll(out, 0o755)
}
