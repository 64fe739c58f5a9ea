package testbed

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// ErrInUse: another process has the data directory.
var ErrInUse = errors.New("the data directory is in use by another doorlab")

// lab is what the data directory remembers beside the database: the seed, and
// how far virtual time had come.
type lab struct {
	Seed int64     `json:"seed"`
	Now  time.Time `json:"now"`

	mu   sync.Mutex
	path string
	lock *os.File
}

const labFile = "lab.json"

// openLab takes the directory for this process. A seed of 0 in a directory
// that has none is written as it is.
func openLab(dir string, seed int64) (*lab, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = lock.Close()
		return nil, fmt.Errorf("%w: %s", ErrInUse, dir)
	}
	l := &lab{path: filepath.Join(dir, labFile), lock: lock}
	switch have, err := readLab(dir); {
	case err == nil && have.Seed != seed:
		_ = lock.Close()
		return nil, fmt.Errorf("%w: %s was made with --seed %d, not %d", ErrOtherWorld, dir, have.Seed, seed)
	case err == nil:
		l.Seed, l.Now = have.Seed, have.Now
	case errors.Is(err, fs.ErrNotExist):
		l.Seed = seed
		err = l.write()
		if err != nil {
			_ = lock.Close()
			return nil, err
		}
	default:
		_ = lock.Close()
		return nil, err
	}
	return l, nil
}

func readLab(dir string) (*lab, error) {
	b, err := os.ReadFile(filepath.Join(dir, labFile))
	if err != nil {
		return nil, err
	}
	var l lab
	if err := json.Unmarshal(b, &l); err != nil {
		return nil, fmt.Errorf("%s in %s is damaged: %w", labFile, dir, err)
	}
	return &l, nil
}

// RememberedSeed is the seed a data directory was made with, 0 when it has none.
func RememberedSeed(dir string) int64 {
	l, err := readLab(dir)
	if err != nil {
		return 0
	}
	return l.Seed
}

// remember notes how far time has come.
func (l *lab) remember(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.After(l.Now) {
		l.Now = now
		_ = l.write() // a start from an earlier time is the worst of it
	}
}

func (l *lab) write() error {
	b, err := json.Marshal(l)
	if err != nil {
		return err
	}
	tmp := l.path + ".new"
	if err := os.WriteFile(tmp, b, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, l.path)
}

// Close lets the directory go.
func (l *lab) Close() error { return l.lock.Close() }
