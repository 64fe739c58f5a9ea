package history

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
)

func TestLogKeepsOrderOfManyWriters(t *testing.T) {
	t.Parallel()
	l := NewLog(func() int64 { return 7 })
	var wg sync.WaitGroup
	const writers, each = 8, 3000 // spanning several chunks
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				l.Append(Event{Kind: Label, Epoch: int64(i), BoardID: fmt.Sprint(w)})
				if i%500 == 0 {
					after(l, l.Len()-10)
				}
			}
		})
	}
	wg.Wait()
	all := l.Snapshot()
	if len(all) != writers*each || l.Len() != writers*each {
		t.Fatalf("got %d events, want %d", len(all), writers*each)
	}
	next := map[string]int64{}
	for i, e := range all {
		if e.Seq != int64(i+1) || e.WallNs != 7 || e.Epoch != next[e.BoardID] {
			t.Fatalf("event %d: got %+v, want Seq %v, WallNs 7 and Epoch %v", i, e, int64(i+1), next[e.BoardID])
		}
		next[e.BoardID]++
	}
	for _, seq := range []int64{-1, 0, 1, chunkSize - 1, chunkSize, chunkSize + 1, l.Len() - 1, l.Len(), l.Len() + 5} {
		got := after(l, seq)
		if want := max(0, l.Len()-max(0, seq)); int64(len(got)) != want {
			t.Fatalf("Since(%d): %d events, want %d", seq, len(got), want)
		}
		if len(got) > 0 && got[0].Seq != max(0, seq)+1 {
			t.Fatalf("Since(%d) begins at %d, want %d", seq, got[0].Seq, max(0, seq)+1)
		}
	}
}

// after are the events after seq.
func after(l *Log, seq int64) (out []Event) {
	_ = l.Each(seq, func(e *Event) error { out = append(out, *e); return nil })
	return out
}

func TestStampIsKept(t *testing.T) {
	t.Parallel()
	l := NewLog(func() int64 { return 7 })
	l.Append(Event{Kind: Label, WallNs: 3})
	if e := l.Snapshot()[0]; e.WallNs != 3 {
		t.Errorf("a log restamped %+v, want the event's own WallNs 3", e)
	}
	var zero Log
	zero.Append(Event{Kind: Label})
	if e := zero.Snapshot()[0]; e.WallNs != 0 || e.Seq != 1 {
		t.Errorf("the zero log holds %+v, want Seq 1 and WallNs 0", e)
	}
}

// A history that has lost, gained or changed lines is not accepted as complete.
func TestReadRefusesWhatIsNotWhole(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	must.OK(t, Write(&b, []Event{{Kind: Label, Text: "a"}, {Kind: Label, Text: "b"}, {Kind: Label, Text: "c"}}))
	whole := b.String()
	lines := strings.SplitAfter(whole, "\n")
	for name, in := range map[string]string{
		"empty":           "",
		"no closing line": strings.Join(lines[:3], ""),
		"cut in a line":   whole[:len(lines[0])+9],
		"cut at the end":  whole[:len(whole)-5],
		"a line lost":     lines[0] + strings.Join(lines[2:], ""),
		"a line twice":    lines[0] + whole,
		"another order":   lines[1] + lines[0] + strings.Join(lines[2:], ""),
		"changed":         strings.Replace(whole, `"b"`, `"x"`, 1),
		"counted less":    strings.Replace(whole, `"count":3`, `"count":2`, 1),
		"counted more":    strings.Replace(whole, `"count":3`, `"count":4`, 1),
	} {
		if _, err := Read(strings.NewReader(in)); !errors.Is(err, ErrTruncated) {
			t.Errorf("%s: %v, want ErrTruncated", name, err)
		}
	}
	for name, more := range map[string]string{"an event": lines[0], "half a line": "{", "another end": lines[3]} {
		if _, err := Read(strings.NewReader(whole + "\n" + more)); err == nil || !strings.Contains(err.Error(), "more follows") {
			t.Errorf("%s after the end: got %v, want an error that more follows", name, err)
		}
	}
	if got, err := Read(strings.NewReader(whole + "\n")); err != nil || len(got) != 3 {
		t.Errorf("%d events, %v, want 3", len(got), err)
	}
	b.Reset()
	must.OK(t, Write(&b, nil))
	if got, err := Read(strings.NewReader(b.String())); err != nil || len(got) != 0 {
		t.Errorf("a whole history of nothing: got %d events, %v, want 0 and no error", len(got), err)
	}
}

func TestReadNamesTheLine(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"{\"kind\":\"label\"}\nnonsense\n{}\n": "line 2",
		"{\"at\":1}\n":                         "line 1: event without a kind",
	} {
		if _, err := Read(strings.NewReader(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q in it", in, err, want)
		}
	}
	long := strings.NewReader(strings.Repeat("x", maxLine+2))
	if _, err := Read(long); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("reading an endless line: %v, want an error that it is too long", err)
	}
}
