package boardsim

import (
	"errors"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/wire"
)

// full is a disk on which only some bytes are left.
type full struct {
	file
	left int
}

func (f *full) Write(p []byte) (int, error) {
	if len(p) <= f.left {
		f.left -= len(p)
		return f.file.Write(p)
	}
	n, _ := f.file.Write(p[:f.left])
	f.left = 0
	return n, syscall.ENOSPC
}

// fill lets the current flash file take only some more bytes, until the returned func frees the disk again.
func (r *rig) fill(left int) (free func()) {
	f := r.fleet.flash
	f.mu.Lock()
	defer f.mu.Unlock()
	good := f.files[f.gen]
	f.files[f.gen] = &full{good, left}
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.files[f.gen] = good
	}
}

// TestRotationOnAFullDisk: the old file is kept until every board's state is in the new one, so neither a reboot nor a
// new process loses anything.
func TestRotationOnAFullDisk(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		left int
	}{{"nothing fits", 0}, {"one board fits", 1500}} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, false, func(r *rig) {
				command, again := r.lived()
				f := r.fleet.flash
				next := must.Get(f.create(f.gen + 1))(t)
				if err := f.rotate(&full{next, c.left}, r.fleet.boards); !errors.Is(err, syscall.ENOSPC) {
					t.Errorf("the rotation: got %v, want %v", err, syscall.ENOSPC)
				}
				if _, err := os.Stat(f.path(1)); err != nil {
					t.Errorf("the old file: %v, want it kept", err)
				}
				r.arm("reboot", one, "")
				r.want("records after a reboot", r.board(one)["bufferedRecords"], any(1.0))
				r.halt()
				r.fleetWithoutLine()
				if _, err := os.Stat(f.path(1)); err == nil {
					t.Error("the old file is still there after a rotation that succeeded")
				}
				r.kept(command, again, 3600)
			})
		})
	}
}

// TestFlashWriteCutShort: a line that was only half written spoils no other one, and what it said is written again, by
// the next write or the next housekeeping.
func TestFlashWriteCutShort(t *testing.T) {
	t.Parallel()
	for _, next := range []string{"a command", "housekeeping", "the end of the process"} {
		t.Run("then "+next, func(t *testing.T) {
			bubble(t, false, func(r *rig) {
				free := r.fill(40)
				ids := []string{r.server.command(one, "dor_one1", wire.CmdOpen)}
				r.sleep(time.Second)
				free()
				switch next {
				case "a command":
					ids = append(ids, r.server.command(one, "dor_one2", wire.CmdOpen))
					r.sleep(time.Second)
				case "housekeeping":
					r.sleep(housekeeping)
				}
				if next != "the end of the process" {
					r.arm("reboot", one, "")
					r.sleep(time.Second)
				}
				r.halt()
				r.boot()
				acts := len(r.acts())
				for _, id := range ids {
					r.server.command(one, "dor_one1", wire.CmdOpen, func(c *wire.Command) { c.ID = id })
					r.sleep(time.Second)
				}
				r.want("a repeat moves nothing", len(r.acts()), acts)
			})
		})
	}
}
