package history

import (
	"errors"
	"fmt"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
)

// Where stamps are equal or missing, the events of one process keep their order: the judge's verdicts depend on the
// order of a command's events.
func TestMergeKeepsEachProcessInOrder(t *testing.T) {
	t.Parallel()
	const n = 40
	var server, boards []Event
	for i := range n {
		server = append(server, Event{Kind: Publish, CommandID: fmt.Sprint("s", i), WallNs: 100, Seq: int64(i + 1)})
		boards = append(boards, Event{Kind: Actuation, CommandID: fmt.Sprint("b", i)})
	}
	boards[0].WallNs = 90 // the others have no stamp: they follow the first
	server[n-1].WallNs = 200
	all := Merge(server, boards)
	next := map[byte]int{'s': 0, 'b': 0}
	for i, e := range all {
		if e.Seq != int64(i+1) {
			t.Errorf("event %d has number %d, want %d", i, e.Seq, i+1)
		}
		from := e.CommandID[0]
		if want := fmt.Sprintf("%c%d", from, next[from]); e.CommandID != want {
			t.Fatalf("event %d is %s, want %s: the process's own order", i, e.CommandID, want)
		}
		next[from]++
	}
	if first, last := all[0].CommandID, all[len(all)-1].CommandID; first != "b0" || last != fmt.Sprint("s", n-1) {
		t.Errorf("from %s to %s, want from b0 to s%d", first, last, n-1)
	}
}

// Events that arrive faster than the disk accepts them are not dropped silently.
func TestSpoolTellsOfAnOverflow(t *testing.T) {
	t.Parallel()
	s := NewSpool(t.TempDir(), nil)
	must.Get(s.Start())(t)
	defer s.Stop()
	s.mu.Lock()
	s.pending = make([]Event, spoolPending) // the disk lags behind
	s.add(Event{Kind: Label})
	err := s.err
	s.mu.Unlock()
	if !errors.Is(err, ErrOverflow) {
		t.Errorf("got %v, want ErrOverflow", err)
	}
}
