package judge

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/vocab"
)

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	want := clean().events
	NewView(want)
	var b bytes.Buffer
	must.OK(t, history.Write(&b, want))
	got, err := history.Read(strings.NewReader("\n" + b.String()))
	if err != nil || len(got) != len(want) {
		t.Fatalf("got %d events, %v, want %d and no error", len(got), err, len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("event %d: %+v, want %+v", i, got[i], want[i])
		}
	}
	l := history.NewLog(nil)
	for _, e := range want {
		l.Append(e)
	}
	b.Reset()
	if err := l.WriteSince(&b, int64(len(want)-3)); err != nil || strings.Count(b.String(), "\n") != 3+1 {
		t.Errorf("WriteSince: got %v %q, want no error and 3 events with a header", err, b.String())
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("{\"kind\":\"label\",\"seq\":1}\n"))
	f.Add([]byte("{\"kind\":\"content\",\"op\":\"windows\",\"text\":\"[{}]\",\"boardId\":\"b\"}\n{"))
	f.Add([]byte("\n\n{}\n"))
	var b bytes.Buffer
	_ = history.Write(&b, clean().events)
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, in []byte) {
		es, err := history.Read(bytes.NewReader(in))
		if err != nil {
			return
		}
		var out bytes.Buffer
		must.OK(t, history.Write(&out, es))
		again, err := history.Read(&out)
		if err != nil || len(again) != len(es) {
			t.Fatalf("second reading: %d of %d events, %v; want all and no error", len(again), len(es), err)
		}
		Judge(NewView(es)) // no history may crash the judge
	})
}

func TestMerge(t *testing.T) {
	t.Parallel()
	var server, boards []history.Event
	for _, e := range clean().events {
		switch e.Kind {
		case history.Door, history.Actuation, history.Presented, history.Netloss, history.Line:
			boards = append(boards, e)
		default:
			server = append(server, e)
		}
	}
	all := history.Merge(server, boards)
	for i, e := range all {
		if e.Seq != int64(i+1) || i > 0 && e.WallNs < all[i-1].WallNs {
			t.Fatalf("event %d is out of order, want numbers and stamps to rise", i)
		}
	}
	if f := failing(Judge(NewView(all))); f != nil {
		t.Errorf("failing: got %v, want none", f)
	}
	same := history.Merge([]history.Event{{Kind: "a", WallNs: 5}, {Kind: "b"}, {Kind: "c", WallNs: 6}}, []history.Event{{Kind: "d", WallNs: 5}})
	got := ""
	for _, e := range same {
		got += e.Kind
	}
	if got != "abdc" {
		t.Errorf("order %s, want abdc", got)
	}
}

// large is a history of at least n events.
func large(n int) []history.Event {
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
		h.command(id, fmt.Sprint("k", i), "open", vocab.Reported, true, i%5/4)
		if i%50 == 0 {
			h.change(h.boards[id].place, "register", grant(fmt.Sprint("pmt_", i), "kim", false, doorOf(id, 1)))
		}
		if i%20 == 0 {
			h.present(id, "nobody", "denied", "no_valid_grant", "")
		}
	}
	return h.events
}

// BenchmarkJudge500k measures the speed.
func TestJudgesALargeHistory(t *testing.T) {
	if testing.Short() {
		t.Skip("large")
	}
	if f := failing(Judge(NewView(large(100_000)))); f != nil {
		t.Errorf("failing: %v, want none", f)
	}
}

func BenchmarkJudge500k(b *testing.B) {
	events := large(500_000)
	for b.Loop() {
		Judge(NewView(events))
	}
}

func BenchmarkAppend(b *testing.B) {
	l := history.NewLog(func() int64 { return 1 })
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			l.Append(history.Event{Kind: history.Label, CommandID: "cmd"})
		}
	})
}

// A single large place is the worst case for freshness, because each commit is compared with each board.
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
