package main

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"unsafe"

	"github.com/doorlab/doorlab/internal/must"
)

// What is wrong with a badDisk, see testdata/disk/disk.c.
const (
	diskFine int32 = iota
	diskFull
	diskWriteError
	diskSyncError
	diskReadOnly
	diskStalls
	diskForgets
	diskReadError
	diskSomeErrors // of every kind of call
	diskHeld       // a sync waits until the disk is turned
)

// badDisk stands between a process's SQLite and its files.
type badDisk struct {
	lib, undo string
	page      []byte // shared with the process
}

// newBadDisk builds one with the C compiler that cgo needs anyway.
func newBadDisk(t *testing.T) *badDisk {
	t.Helper()
	dir := t.TempDir()
	d := &badDisk{lib: filepath.Join(dir, "disk.so"), undo: filepath.Join(dir, "undo")}
	if out, err := exec.Command("cc", "-O1", "-shared", "-fPIC", "-o", d.lib, "testdata/disk/disk.c", "-ldl", "-lpthread").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f := must.Get(os.Create(filepath.Join(dir, "state")))(t)
	defer func() { _ = f.Close() }()
	must.OK(t, f.Truncate(8))
	d.page = must.Get(syscall.Mmap(int(f.Fd()), 0, 8, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED))(t)
	t.Cleanup(func() { _ = syscall.Munmap(d.page) })
	return d
}

// env is what a process needs to have this disk; undo: power can be lost.
func (d *badDisk) env(undo bool) []string {
	out := []string{"LD_PRELOAD=" + d.lib, "DOORLAB_DISK=" + filepath.Join(filepath.Dir(d.lib), "state")}
	if undo {
		out = append(out, "DOORLAB_UNDO="+d.undo)
	}
	return out
}

// turn makes the disk bad, or fine again; n: milliseconds for diskStalls, of how
// many calls one fails for diskSomeErrors.
func (d *badDisk) turn(how, n int32) {
	binary.NativeEndian.PutUint32(d.page[4:], uint32(n))
	binary.NativeEndian.PutUint32(d.page, uint32(how))
}

// undone is one write that the disk had not been told to keep.
type undone struct {
	off, size int64
	old       []byte
	cut       bool
}

// losePower takes back what was written since the last sync of each file, except
// that each write survives with probability keep; it returns how many were lost.
// The process must be dead.
func (d *badDisk) losePower(t *testing.T, dir string, keep float64) (lost int) {
	t.Helper()
	b, err := os.ReadFile(d.undo)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // none: killed before its first call
		t.Fatal(err)
	}
	open := map[int32][]undone{}
	type head struct {
		file, truncated int32
		off, n, size    int64
	}
	const size = int(unsafe.Sizeof(head{}))
	for len(b) >= size {
		h := head{int32(binary.NativeEndian.Uint32(b)), int32(binary.NativeEndian.Uint32(b[4:])), int64(binary.NativeEndian.Uint64(b[8:])),
			int64(binary.NativeEndian.Uint64(b[16:])), int64(binary.NativeEndian.Uint64(b[24:]))}
		if b = b[size:]; int64(len(b)) < h.n {
			break // killed within the record: its write had not begun
		}
		if h.truncated < 0 {
			open[h.file] = nil
		} else {
			open[h.file] = append(open[h.file], undone{h.off, h.size, b[:h.n], h.truncated > 0})
		}
		b = b[h.n:]
	}
	for file, list := range open {
		lost += takeBack(t, filepath.Join(dir, map[int32]string{1: "doorlab.db", 2: "doorlab.db-wal"}[file]), list, keep)
	}
	for _, name := range []string{d.undo, filepath.Join(dir, "doorlab.db-shm")} { // memory, not disk
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	return lost
}

// takeBack undoes writes in reverse. One that a later, surviving write covers
// stays; a truncation among them takes all back, in order.
func takeBack(t *testing.T, path string, list []undone, keep float64) (lost int) {
	t.Helper()
	f := must.Get(os.OpenFile(path, os.O_RDWR, 0))(t)
	defer func() { _ = f.Close() }()
	for _, w := range list {
		if w.cut {
			keep = 0
		}
	}
	info := must.Get(f.Stat())(t)
	end := int64(-1) // of the surviving writes
	var kept []undone
	for i, w := range slices.Backward(list) {
		covered := false
		for _, k := range kept {
			covered = covered || w.off < k.off+int64(len(k.old)) && k.off < w.off+max(int64(len(w.old)), 1)
		}
		if covered || rand.Float64() < keep {
			next := info.Size()
			if i+1 < len(list) {
				next = list[i+1].size
			}
			end = max(end, next)
			kept = append(kept, w)
			continue
		}
		lost++
		must.Get(f.WriteAt(w.old, w.off))(t)
		if end < w.size {
			must.OK(t, f.Truncate(w.size))
		}
	}
	return lost
}
