package history

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"weak"

	"github.com/doorlab/doorlab/internal/must"
)

// short is a long log that keeps only one chunk in memory.
func short(t *testing.T) *Log {
	l := NewLongLog(t.TempDir(), func() int64 { return 7 })
	l.keep = chunkSize
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// TestLongForgetsWhatIsOnDisk: nothing holds on to a chunk that has moved.
func TestLongForgetsWhatIsOnDisk(t *testing.T) {
	t.Parallel()
	l := short(t)
	l.Append(Event{Kind: Label})
	l.mu.Lock()
	moved := weak.Make(&l.chunks[0][0])
	l.mu.Unlock()
	for range chunkSize {
		l.Append(Event{Kind: Label})
	}
	l.mu.Lock()
	for l.moving {
		l.moved.Wait()
	}
	l.mu.Unlock()
	if runtime.GC(); moved.Value() != nil {
		t.Error("the first chunk is on disk and still in memory")
	}
}

// TestLongKeepsOrderOfManyWriters: readers of a long history see every event once, in order, whether it is in memory
// or on disk.
func TestLongKeepsOrderOfManyWriters(t *testing.T) {
	t.Parallel()
	l := short(t)
	var wg sync.WaitGroup
	const writers, each = 4, 6000
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				l.Append(Event{Kind: Label, Epoch: int64(i), BoardID: fmt.Sprint(w)})
			}
		})
	}
	wg.Wait()
	for _, seq := range []int64{0, 1, chunkSize - 1, chunkSize, chunkSize + 1, writers*each - 1, writers * each} {
		n, next := seq, map[string]int64{}
		err := l.Each(seq, func(e *Event) error {
			n++
			if e.Seq != n || e.WallNs != 7 || seq == 0 && e.Epoch != next[e.BoardID] {
				return fmt.Errorf("event %d is %+v", n, e)
			}
			next[e.BoardID]++
			return nil
		})
		if err != nil || n != writers*each || l.Len() != n {
			t.Errorf("after %d: %d events of %d, %v, want %d", seq, n, l.Len(), err, writers*each)
		}
	}
	l.mu.Lock()
	for l.moving {
		l.moved.Wait()
	}
	if len(l.stored) < 3 {
		t.Errorf("%d chunks are on disk, want at least 3 of 5", len(l.stored))
	}
	l.mu.Unlock()
	var out bytes.Buffer
	must.OK(t, l.WriteSince(&out, 5000))
	if events, err := Read(&out); err != nil || len(events) != writers*each-5000 || events[0].Seq != 5001 {
		t.Errorf("written: %d events, %v, want %d from 5001 on", len(events), err, writers*each-5000)
	}
}

// TestLongOutlivesItsDisk: if the disk fails, events stay in memory; if it returns different bytes, reading fails.
func TestLongOutlivesItsDisk(t *testing.T) {
	t.Parallel()
	l := short(t)
	l.dir = "/nowhere"
	fill := func(l *Log) {
		for range 3 * chunkSize {
			l.Append(Event{Kind: Label})
		}
	}
	fill(l)
	n := 0
	if err := l.Each(0, func(*Event) error { n++; return nil }); err != nil || n != 3*chunkSize {
		t.Errorf("%d events, %v, want %d from memory", n, err, 3*chunkSize)
	}
	l = short(t)
	fill(l)
	l.mu.Lock()
	for l.moving {
		l.moved.Wait()
	}
	l.mu.Unlock()
	must.OK(t, l.file.file.Truncate(l.file.size/2))
	if err := l.Each(0, func(*Event) error { return nil }); err == nil {
		t.Error("a file that was cut off is read without an error")
	}
	stop := errors.New("stop")
	if err := l.Each(2*chunkSize, func(*Event) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("got %v, want the caller's own error", err)
	}
}

// TestDivision: each place's events are in one group and keep their order, shared events are in every group, and no
// group is larger than necessary.
func TestDivision(t *testing.T) {
	t.Parallel()
	d, err := NewDivision(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	const places, each = 40, 300
	for list := range 2 {
		d.Next()
		events := []Event{{Kind: Started}}
		for i := range each {
			for p := range places {
				place, board := fmt.Sprint("plc_", p), fmt.Sprint("brd_", p)
				events = append(events, Event{Kind: Online, PlaceID: place, BoardID: board, Epoch: int64(i), Src: list}, Event{Kind: Line, BoardID: board, Epoch: int64(i), Src: list})
			}
		}
		for _, e := range events {
			must.OK(t, d.Add(e))
		}
	}
	groups, in := 0, map[string]int{}
	err = d.Groups(4*each, func(lists [][]Event) error {
		groups++
		if len(lists) != 2 {
			return fmt.Errorf("%d lists, want 2", len(lists))
		}
		for list, events := range lists {
			next := map[string]int64{}
			for i, e := range events {
				if (e.Kind == Started) != (i == 0) || i > 0 && (e.Src != list || e.Epoch != next[e.Kind+e.BoardID]) {
					return fmt.Errorf("event %d of list %d is %+v", i, list, e)
				}
				next[e.Kind+e.BoardID]++
				if before, known := in[e.BoardID]; e.BoardID != "" && known && before != groups {
					return fmt.Errorf("%s is in groups %d and %d", e.BoardID, before, groups)
				}
				in[e.BoardID] = groups
			}
			for key, n := range next {
				if key != Started && n != each {
					return fmt.Errorf("%s: %d events, want %d", key, n, each)
				}
			}
		}
		return nil
	})
	if err != nil || groups < places/4 || len(in) != places+1 {
		t.Errorf("%d groups, %d boards, %v; want at least %d groups of %d boards", groups, len(in)-1, err, places/4, places)
	}
	empty := must.Get(NewDivision(t.TempDir()))(t)
	empty.Next()
	if err := empty.Groups(1, func(lists [][]Event) error { groups = -len(lists); return nil }); err != nil || groups != -1 {
		t.Errorf("nothing was added: %v, want one empty group", err)
	}
}

// TestCommonEvents: a call of an unknown caller belongs to one group, whether it was answered or not.
func TestCommonEvents(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]bool{Started: true, Call: false, Unanswered: false} {
		if got := Common(&Event{Kind: kind}); got != want {
			t.Errorf("%s: common is %t, want %t", kind, got, want)
		}
	}
}

// TestSpaceIsGivenBack: where an open file can't be removed, it is removed at the end.
func TestSpaceIsGivenBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := must.Get(newPages(dir))(t)
	left := filepath.Join(dir, "left")
	must.OK(t, os.WriteFile(left, nil, 0o600))
	p.file.name = left
	must.OK(t, p.close())
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("%d files are left, %v, want none", len(files), err)
	}
}
