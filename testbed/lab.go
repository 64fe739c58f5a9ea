package testbed

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/datadir"
	"github.com/doorlab/doorlab/internal/world"
)

// ErrInUse: another process is using the data directory.
var ErrInUse = errors.New("the data directory is in use by another doorlab")

// lab is what the data directory remembers beside the database: the seed, the source of the secrets, and how far
// virtual time has come.
type lab struct {
	Seed     int64     `json:"seed"`
	FileSeed int64     `json:"fileSeed,omitempty"` // the world file's own, when --seed overrode it
	Shard    string    `json:"shard,omitempty"`    // i/n, of a bigger world; "" = all of it
	Now      time.Time `json:"now"`                // how far time had come ...
	Wall     time.Time `json:"wall"`               // ... when the machine's clock said this
	Secrets  string    `json:"secrets,omitempty"`  // source of live places' secrets, see below; "" in older data: the seed
	Shared   string    `json:"shared,omitempty"`   // id of the secret file
	SecretID string    `json:"secretId,omitempty"` // of the directory's own secret
	Labels   bool      `json:"labels,omitempty"`   // its keys begin with their place's label; false in older data
	Begun    bool      `json:"begun,omitempty"`    // the first start hasn't finished yet

	mu   sync.Mutex
	path string
	lock io.Closer
}

// Sources of live places' secrets.
const (
	fromData = "data"
	fromSeed = "seed"
	fromFile = "file"
)

const labFile = datadir.LabFile

// openLab takes the directory for this process and, if it is new, stores seeds and shard. Errors: ErrInUse,
// ErrOtherWorld, the file system's.
func openLab(dir, file string, w *world.World, fileSeed int64) (_ *lab, err error) {
	have, err := readLab(dir, file)
	switch { // before anything is touched
	case err != nil:
	case have.Seed != w.Seed:
		return nil, fmt.Errorf("%w: %s has seed %d, not %d; leave out the seed, or name another data directory", ErrOtherWorld, dir, have.Seed, w.Seed)
	case have.Shard != partOf(w):
		return nil, fmt.Errorf("%w: %s has %s, not %s; every shard needs a data directory of its own", ErrOtherWorld, dir, partText(have.Shard), partText(partOf(w)))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, ofDir(dir, err)
	}
	fresh := err != nil
	if err := datadir.Private(dir); err != nil {
		return nil, ofDir(dir, err)
	}
	l := &lab{Seed: w.Seed, FileSeed: fileSeed, Shard: partOf(w), Labels: true, Begun: true, path: filepath.Join(dir, file)}
	if l.lock, err = lockFile(dir, strings.Replace(file, "lab.json", "lock", 1)); err != nil {
		return nil, err
	}
	if !fresh {
		have.path, have.lock = l.path, l.lock
		return have, nil
	}
	if err := l.write(); err != nil {
		_ = l.lock.Close()
		return nil, ofDir(dir, err)
	}
	return l, nil
}

// partOf is a world's shard as a data directory stores it.
func partOf(w *world.World) string {
	if w.Part.Whole() {
		return ""
	}
	return w.Part.String()
}

func partText(part string) string {
	if part == "" {
		return "all places"
	}
	return "shard " + part
}

// ofDir names the directory instead of the file in it.
func ofDir(dir string, err error) error {
	if err == nil {
		return nil
	}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	return fmt.Errorf("data directory %s: %w", dir, err)
}

// lockFile takes a file of the directory for this process. Errors: ErrInUse, the file system's.
func lockFile(dir, name string) (io.Closer, error) {
	f := flock.New(filepath.Join(dir, name), flock.SetPermissions(0o600))
	switch free, err := f.TryLock(); {
	case err != nil:
		return nil, ofDir(dir, err)
	case !free:
		return nil, fmt.Errorf("%w: %s; stop that one, or choose another --data", ErrInUse, dir)
	}
	return f, nil
}

func readLab(dir, file string) (*lab, error) {
	b, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return nil, err
	}
	var l lab
	if err := json.Unmarshal(b, &l); err != nil {
		return nil, damaged(file, "it isn't what doorlab wrote ("+err.Error()+")")
	}
	if l.Seed < 1 {
		return nil, damaged(file, "it has no seed")
	}
	return &l, nil
}

// damaged says what to do about a lab file that can't be read as one.
func damaged(file, what string) error {
	if file != labFile { // a fleet's: the boards' own files don't depend on it
		return fmt.Errorf("%s is damaged: %s; restore it from a backup, or name another data directory", file, what)
	}
	return fmt.Errorf("%s is damaged: %s; restore it from a backup, or remove it and start over with --init (what is left moves to a subfolder)", file, what)
}

// RememberedSeed is the seed with which a data directory was made, and the world file's own; 0 if it has none.
func RememberedSeed(dir string) (seed, fileSeed int64) {
	l, err := readLab(dir, labFile)
	if err != nil {
		return 0, 0
	}
	if l.FileSeed == 0 {
		return l.Seed, l.Seed
	}
	return l.Seed, l.FileSeed
}

// start is where virtual time continues: never before anything that the previous run saw. Between jumps, time runs with
// the wall clock; every jump is stored.
func (l *lab) start(now time.Time) time.Time {
	if l.Now.IsZero() {
		return now
	}
	if then := l.Now.Add(max(clock.WallNow().Sub(l.Wall), 0)); then.After(now) {
		return then
	}
	return now
}

// remember stores how far time has come.
func (l *lab) remember(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.After(l.Now) {
		l.Now, l.Wall = now, clock.WallNow()
		_ = l.write() // at worst, the next start begins at an earlier time
	}
}

// complete notes that the first start has finished: from now on, no file of the directory may be missing.
func (l *lab) complete() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.Begun {
		return nil
	}
	l.Begun = false
	return l.write()
}

func (l *lab) write() error {
	b, err := json.Marshal(l)
	if err != nil {
		return err
	}
	return datadir.Write(l.path, b)
}

// Close releases the directory.
func (l *lab) Close() error { return l.lock.Close() }
