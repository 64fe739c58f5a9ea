package history

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestLogKeepsOrderOfManyWriters(t *testing.T) {
	t.Parallel()
	l := NewLog(func() int64 { return 7 })
	var wg sync.WaitGroup
	const writers, each = 8, 3000 // over several chunks
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				l.Append(Event{Kind: Label, Epoch: int64(i), BoardID: fmt.Sprint(w)})
				if i%500 == 0 {
					l.Since(l.Len() - 10)
				}
			}
		})
	}
	wg.Wait()
	all := l.Snapshot()
	if len(all) != writers*each || l.Len() != writers*each {
		t.Fatalf("%d events", len(all))
	}
	next := map[string]int64{}
	for i, e := range all {
		if e.Seq != int64(i+1) || e.WallNs != 7 || e.Epoch != next[e.BoardID] {
			t.Fatalf("event %d: %+v", i, e)
		}
		next[e.BoardID]++
	}
	for _, seq := range []int64{-1, 0, 1, chunkSize - 1, chunkSize, chunkSize + 1, l.Len() - 1, l.Len(), l.Len() + 5} {
		got := l.Since(seq)
		if want := max(0, l.Len()-max(0, seq)); int64(len(got)) != want {
			t.Fatalf("Since(%d): %d events, want %d", seq, len(got), want)
		}
		if len(got) > 0 && got[0].Seq != max(0, seq)+1 {
			t.Fatalf("Since(%d) begins at %d", seq, got[0].Seq)
		}
	}
}

func TestStampIsKept(t *testing.T) {
	t.Parallel()
	l := NewLog(func() int64 { return 7 })
	l.Append(Event{Kind: Label, WallNs: 3})
	if e := l.Snapshot()[0]; e.WallNs != 3 {
		t.Errorf("%+v", e)
	}
	var zero Log
	zero.Append(Event{Kind: Label})
	if e := zero.Snapshot()[0]; e.WallNs != 0 || e.Seq != 1 {
		t.Errorf("%+v", e)
	}
}

func TestSinkWritesEverything(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history.ndjson")
	l := NewLog(nil)
	l.Append(Event{Kind: Label, Text: "before"})
	s, err := l.SinkFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.SinkFile(path); err != ErrSink {
		t.Errorf("second sink: %v", err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 2000 {
				l.Append(Event{Kind: Label})
			}
		})
	}
	wg.Wait()
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	read := func() []Event {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		es, err := Read(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		return es
	}
	if n := len(read()); n != 8001 {
		t.Errorf("%d events after Flush", n)
	}
	l.Append(Event{Kind: Label, Text: "last"})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
	es := read()
	if len(es) != 8002 || es[8001].Text != "last" {
		t.Errorf("%d events after Close", len(es))
	}
	for i, e := range es {
		if e.Seq != int64(i+1) {
			t.Fatalf("event %d has seq %d", i, e.Seq)
		}
	}
	l.Append(Event{Kind: Label}) // goes nowhere, harms nobody
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	want := clean().events
	NewView(want)
	var b bytes.Buffer
	if err := Write(&b, want); err != nil {
		t.Fatal(err)
	}
	got, err := Read(strings.NewReader("\n" + b.String() + `{"seq":9,"kind":"la`)) // cut off by a kill
	if err != nil || len(got) != len(want) {
		t.Fatalf("%d events, %v", len(got), err)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("event %d: %+v, want %+v", i, got[i], want[i])
		}
	}
	l := NewLog(nil)
	for _, e := range want {
		l.Append(e)
	}
	b.Reset()
	if err := l.WriteSince(&b, int64(len(want)-3)); err != nil || strings.Count(b.String(), "\n") != 3 {
		t.Errorf("WriteSince: %v %q", err, b.String())
	}
}

func TestReadNamesTheLine(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"{\"kind\":\"label\"}\nnonsense\n{}\n": "line 2",
		"{\"at\":1}\n":                         "line 1: event without a kind",
	} {
		if _, err := Read(strings.NewReader(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", in, err)
		}
	}
	long := strings.NewReader(strings.Repeat("x", maxLine+2))
	if _, err := Read(long); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("%v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("{\"kind\":\"label\",\"seq\":1}\n"))
	f.Add([]byte("{\"kind\":\"content\",\"op\":\"windows\",\"text\":\"[{}]\",\"boardId\":\"b\"}\n{"))
	f.Add([]byte("\n\n{}\n"))
	var b bytes.Buffer
	_ = Write(&b, clean().events)
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, in []byte) {
		es, err := Read(bytes.NewReader(in))
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := Write(&out, es); err != nil {
			t.Fatal(err)
		}
		again, err := Read(&out)
		if err != nil || len(again) != len(es) {
			t.Fatalf("second reading: %d of %d, %v", len(again), len(es), err)
		}
		Judge(NewView(es)) // nothing in a history makes the judge fall
	})
}

// Histories of a server and of a fleet in another process, merged, are judged
// as the one of a single process.
func TestMerge(t *testing.T) {
	t.Parallel()
	var server, boards []Event
	for _, e := range clean().events {
		switch e.Kind {
		case Door, Actuation, Presented, Netloss, Line:
			boards = append(boards, e)
		default:
			server = append(server, e)
		}
	}
	all := Merge(server, boards)
	for i, e := range all {
		if e.Seq != int64(i+1) || i > 0 && e.WallNs < all[i-1].WallNs {
			t.Fatalf("event %d out of order", i)
		}
	}
	if f := failing(Judge(NewView(all))); f != nil {
		t.Errorf("failing: %v", f)
	}
	same := Merge([]Event{{Kind: "a", WallNs: 5}, {Kind: "b"}, {Kind: "c", WallNs: 6}}, []Event{{Kind: "d", WallNs: 5}})
	got := ""
	for _, e := range same {
		got += e.Kind
	}
	if got != "abdc" {
		t.Errorf("order %s", got)
	}
}

// A view of a log without copying judges as the copy does.
func TestViewOfLog(t *testing.T) {
	t.Parallel()
	l := NewLog(nil)
	for _, e := range clean().events {
		l.Append(e)
	}
	if f := failing(Judge(l.View())); f != nil {
		t.Errorf("failing: %v", f)
	}
}

// large is a history of at least n events.
func large(n int) []Event {
	h := newBuilder()
	for p := range 20 {
		place := fmt.Sprintf("plc_%d", p)
		h.base(place)
		for b := range 10 {
			id := fmt.Sprintf("brd_%d_%d", p, b)
			h.addBoard(place, id)
			h.online(id)
		}
	}
	ids := h.boardIDs()
	for i := 0; len(h.events) < n; i++ {
		id := ids[i%len(ids)]
		h.command(id, fmt.Sprint("k", i), "open", Reported, true, i%5/4)
		if i%50 == 0 {
			h.change(h.boards[id].place, "register", grant(fmt.Sprint("pmt_", i), "kim", false, doorOf(id, 1)))
		}
		if i%20 == 0 {
			h.present(id, "nobody", "denied", "no_valid_grant", "")
		}
	}
	return h.events
}

// 500k events are judged in under 2 s; the bound here is loose for slow
// machines and the race detector.
func TestJudgesFast(t *testing.T) {
	if testing.Short() {
		t.Skip("large")
	}
	events := large(100_000)
	begin := time.Now()
	vs := Judge(NewView(events))
	took := time.Since(begin)
	if f := failing(vs); f != nil {
		t.Fatalf("failing: %v", f)
	}
	t.Logf("%d events in %v", len(events), took)
	if took > 10*time.Second {
		t.Errorf("took %v", took)
	}
}

func BenchmarkJudge500k(b *testing.B) {
	events := large(500_000)
	for b.Loop() {
		Judge(NewView(events))
	}
}

func BenchmarkAppend(b *testing.B) {
	l := NewLog(func() int64 { return 1 })
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			l.Append(Event{Kind: Label, CommandID: "cmd"})
		}
	})
}

// A single large place is the worst case for freshness: each commit meets each board.
func BenchmarkJudgeOneLargePlace(b *testing.B) {
	h := newBuilder()
	h.base("plc_a")
	for i := range 2000 {
		id := fmt.Sprint("brd_", i)
		h.addBoard("plc_a", id)
		h.online(id)
	}
	for i := range 200 {
		h.change("plc_a", "register", grant(fmt.Sprint("pmt_", i), "kim", false))
	}
	b.Logf("%d events", len(h.events))
	for b.Loop() {
		Judge(NewView(h.events))
	}
}
