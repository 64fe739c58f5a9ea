package main

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"testing"

	"github.com/spf13/cobra"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/must"
)

// TestTailReadsWhatIsNew: each look asks for the end of the journal, and misses nothing when lines vanish from it.
func TestTailReadsWhatIsNew(t *testing.T) {
	t.Parallel()
	var lines []journalRow
	sent := 0
	lab := client.Inside(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		offset, _ := strconv.Atoi(r.URL.Query().Get("offset"))
		part := lines[min(offset, len(lines)):]
		sent += len(part)
		control.List(w, part, len(lines))
	}))
	c := &cobra.Command{}
	c.SetContext(t.Context())
	l := labCall{&env{out: io.Discard}, client.Client{Base: "http://lab", HTTP: lab}, true, c, new(error)}
	at := journalEnd{path: "/boards/brd_1/journal"}
	next := int64(1)
	write := func(n int) {
		for range n {
			lines = append(lines, journalRow{Seq: next})
			next++
		}
	}
	for _, step := range []struct {
		name  string
		act   func()
		first int64 // of the new lines
		lines int
		sent  int
	}{
		{"nothing yet", func() {}, 0, 0, 0},
		{"the first", func() { write(1) }, 1, 1, 1},
		{"many", func() { write(99) }, 2, 99, 100},
		{"one more", func() { write(1) }, 101, 1, 2},
		{"nothing new", func() {}, 0, 0, 1},
		{"three are gone", func() { lines = append(lines[:50:50], lines[53:]...); write(2) }, 102, 2, 100},
		{"and one more", func() { write(1) }, 104, 1, 2},
	} {
		step.act()
		sent = 0
		got := must.Get(at.more(l))(t)
		if len(got) != step.lines || len(got) > 0 && got[0].Seq != step.first {
			t.Errorf("%s: got %v, want %d from %d on", step.name, fmt.Sprint(got), step.lines, step.first)
		}
		if sent != step.sent {
			t.Errorf("%s: %d lines were sent, want %d", step.name, sent, step.sent)
		}
	}
}
