package link_test

import (
	"io"
	"runtime"
	"testing"

	"github.com/doorlab/doorlab/boardsim/link"
	"github.com/doorlab/doorlab/internal/pipe"
)

// TestIdleLinesAreSmall: 10,000 boards have to fit into one process.
func TestIdleLinesAreSmall(t *testing.T) {
	if testing.Short() {
		t.Skip("allocates 2,000 lines; -short leaves it out")
	}
	const n = 2000
	keep := make([]any, 0, 2*n)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range n {
		a, b := pipe.New()
		l := link.Wrap(a, link.Config{BoardID: "b"})
		_, _ = l.Write(msg(1))
		_, _ = io.ReadFull(b, make([]byte, 3))
		_, _ = b.Write(msg(1))
		_, _ = io.ReadFull(l, make([]byte, 3))
		keep = append(keep, l, b)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if each := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) / n; each > 3000 {
		t.Errorf("got %d bytes a line with both ends, want at most 3000", each)
	} else {
		t.Logf("%d bytes a line with both ends", each)
	}
	runtime.KeepAlive(keep)
}

func BenchmarkLine(b *testing.B) {
	c, s := pipe.New()
	l := link.Wrap(c, link.Config{})
	p := append([]byte{0x30, 200, 1}, make([]byte, 200)...)
	got := make([]byte, 256)
	b.ReportAllocs()
	for b.Loop() {
		_, _ = s.Write(p)
		_, _ = io.ReadFull(l, got[:len(p)])
	}
}
