package history

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
)

func readSpool(t *testing.T, s *Spool, since int64) []Event {
	t.Helper()
	var b bytes.Buffer
	must.OK(t, s.WriteSince(&b, since))
	events := must.Get(Read(&b))(t)
	return events
}

func appendAtOnce(s *Spool, writers, each int) {
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				s.Append(Event{Kind: Label, BoardID: fmt.Sprint(w), Epoch: int64(i)})
			}
		})
	}
	wg.Wait()
}

// Until a recording is requested, only the present state is kept. A recording begins with that state, has every event
// in order, and frees its space when it ends.
func TestSpool(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := NewSpool(dir, func() int64 { return 7 })
	for i := range 10000 {
		s.Append(Event{Kind: Started, Text: "server"})
		s.Append(Event{Kind: Intent, CommandID: fmt.Sprint(i)})
		s.Append(Event{Kind: Online, BoardID: "a", Epoch: int64(i)})
		s.Append(Event{Kind: Line, BoardID: "a", Op: "down", Text: "cut"})
		s.Append(Event{Kind: Line, BoardID: "a", Op: "up", Text: "cut"})
		s.Append(Event{Kind: Applied, BoardID: "a", Revision: int64(i)})
		s.Append(Event{Kind: Online, BoardID: "b"})
		s.Append(Event{Kind: Offline, BoardID: "b"})
	}
	if n := len(s.standing.last) + len(s.pending); n != 3 || s.Recording() {
		t.Errorf("%d events in memory after 80,000, recording %v; want the 3 that stand", n, s.Recording())
	}
	if got := readSpool(t, s, 0); len(got) != 0 {
		t.Errorf("got %d events without a recording, want 0", len(got))
	}
	if fresh, err := s.Start(); !fresh || err != nil {
		t.Fatal(fresh, err)
	}
	if fresh, err := s.Start(); fresh || err != nil {
		t.Fatal("a second one joins:", fresh, err)
	}
	const writers, each = 4, 5000
	appendAtOnce(s, writers, each)
	all := readSpool(t, s, 0)
	if len(all) != 3+writers*each {
		t.Fatalf("%d events, want %d", len(all), 3+writers*each)
	}
	if all[0].Kind != Started || all[1].Epoch != 9999 || all[2].Revision != 9999 {
		t.Errorf("it begins with %+v, want the present state", all[:3])
	}
	next := map[string]int64{}
	for i, e := range all {
		if e.Seq != int64(i+1) || e.WallNs != 7 || e.Kind == Label && e.Epoch != next[e.BoardID] {
			t.Fatalf("event %d is %+v, want the next in its writer's order", i, e)
		}
		if e.Kind == Label {
			next[e.BoardID]++
		}
	}
	if got := readSpool(t, s, 20000); len(got) != 3 || got[0].Seq != 20001 {
		t.Errorf("since 20000: %d events, first %+v; want 3 from 20001 on", len(got), got)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("a killed process would leave %d files, %v, want 0 and no error", len(files), err)
	}
	if s.Stop() {
		t.Error("it ended although somebody else records")
	}
	if !s.Stop() || s.Recording() || s.Stop() {
		t.Error("it did not end once")
	}
	s.Append(Event{Kind: Label})
	if got := readSpool(t, s, 0); len(got) != 0 {
		t.Errorf("got %d events after the end, want 0", len(got))
	}
	if fresh, err := s.Start(); !fresh || err != nil {
		t.Fatal(fresh, err)
	}
	if got := readSpool(t, s, 0); len(got) != 3 {
		t.Errorf("the next recording begins with %d events, want 3", len(got))
	}
	s.Stop()
}

// A recording that reached its limit is not accepted as complete.
func TestSpoolIsBounded(t *testing.T) {
	t.Parallel()
	s := NewSpool(t.TempDir(), nil)
	s.limit = 2000
	must.Get(s.Start())(t)
	defer s.Stop()
	s.Append(Event{Kind: Label, Text: "first"})
	if n := len(readSpool(t, s, 0)); n != 1 {
		t.Fatalf("%d events, want 1", n)
	}
	for i := range 20000 {
		s.Append(Event{Kind: Label, Text: fmt.Sprint(i)})
	}
	var b bytes.Buffer
	if err := s.WriteSince(&b, 0); !errors.Is(err, ErrTooLong) && !errors.Is(err, ErrOverflow) {
		t.Errorf("got %v, want ErrTooLong", err)
	}
	if _, err := Read(&b); !errors.Is(err, ErrTruncated) {
		t.Errorf("read again: %v, want ErrTruncated", err)
	}
	if s.size > s.limit {
		t.Errorf("%d bytes on disk, want at most %d", s.size, s.limit)
	}
}

// A recording that broke doesn't spoil the next run's: that one begins a new recording. It has another id, so a run that
// began before can tell that events are missing.
func TestSpoolReplacesABrokenRecording(t *testing.T) {
	t.Parallel()
	s := NewSpool(t.TempDir(), nil)
	s.limit = 2000
	s.Append(Event{Kind: Online, BoardID: "a"})
	must.Get(s.Start())(t)
	for i := range 20000 {
		s.Append(Event{Kind: Label, Text: fmt.Sprint(i)})
	}
	if err := s.WriteSince(io.Discard, 0); !errors.Is(err, ErrTooLong) && !errors.Is(err, ErrOverflow) {
		t.Fatalf("the first recording: got %v, want it broken", err)
	}
	before := s.Position()
	if fresh, err := s.Start(); !fresh || err != nil {
		t.Errorf("the second run: fresh %v, %v; want true and no error", fresh, err)
	}
	mark := s.Position()
	if mark.Recording == before.Recording || mark.Recording == "" {
		t.Errorf("the second run's recording is %q, want another than the first one's, %q", mark.Recording, before.Recording)
	}
	s.Append(Event{Kind: Label, Text: "second"})
	all := readSpool(t, s, 0)
	if len(all) != 2 || all[0].Kind != Online || all[0].Seq != 1 || all[1].Text != "second" {
		t.Errorf("got %+v, want what stands, number 1, and the run's event", all)
	}
	if got := readSpool(t, s, mark.Seq); len(got) != 1 || got[0].Seq != mark.Seq+1 {
		t.Errorf("since %d: got %+v, want the run's event", mark.Seq, got)
	}
	if s.Stop() {
		t.Error("it ended although the first run's user hasn't stopped")
	}
	if !s.Stop() {
		t.Error("it didn't end with its last user")
	}
}

// What somebody says is incomplete is replaced by the next run's.
func TestSpoolThatFails(t *testing.T) {
	t.Parallel()
	s := NewSpool(t.TempDir(), nil)
	must.Get(s.Start())(t)
	why := errors.New("the content can't be told")
	s.Fail(why)
	if err := s.WriteSince(io.Discard, 0); !errors.Is(err, why) {
		t.Errorf("got %v, want why it is incomplete", err)
	}
	if fresh, err := s.Start(); !fresh || err != nil {
		t.Errorf("the next run: fresh %v, %v; want a new recording", fresh, err)
	}
}

// The present state of a large fleet is not what the disk couldn't take in time.
func TestSpoolOfALargeFleet(t *testing.T) {
	t.Parallel()
	s := NewSpool(t.TempDir(), nil)
	s.room = 10
	const n = 100
	for i := range n {
		s.Append(Event{Kind: Online, BoardID: fmt.Sprint(i)})
	}
	s.mu.Lock() // nothing is written yet
	err := s.begin()
	s.add(Event{Kind: Label})
	if err == nil {
		err = s.err
	}
	s.mu.Unlock()
	if err != nil {
		t.Fatalf("the first event after the beginning: %v, want no error", err)
	}
	if got := len(readSpool(t, s, 0)); got != n+1 {
		t.Errorf("%d events, want %d", got, n+1)
	}
}

// Who only reads doesn't keep a recording, and replaces one that is incomplete only if no run uses it.
func TestSpoolForReaders(t *testing.T) {
	t.Parallel()
	s := NewSpool(t.TempDir(), nil)
	read := func(when string, want bool) {
		t.Helper()
		if fresh, err := s.Read(); fresh != want || err != nil {
			t.Errorf("%s: fresh %v, %v; want %v and no error", when, fresh, err, want)
		}
	}
	read("the first reader", true)
	read("the second", false)
	s.Fail(errors.New("incomplete"))
	read("nobody uses the incomplete one", true)
	must.Get(s.Start())(t)
	s.Fail(errors.New("incomplete"))
	read("a run uses it", false)
	if !s.Stop() || s.Recording() {
		t.Error("it didn't end with its only run")
	}
}
