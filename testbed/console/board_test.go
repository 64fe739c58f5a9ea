package console

import (
	"net/http"
	"testing"

	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/must"
)

// TestJournalOfABoard: the page shows the latest lines, newest first, and how many there are, and asks for no others.
func TestJournalOfABoard(t *testing.T) {
	t.Parallel()
	type line struct{ Seq int64 }
	for _, n := range []int{0, 1, journalRows, journalRows + 1, 1000} {
		lines, sent := make([]line, n), 0
		for i := range lines {
			lines[i].Seq = int64(i + 1)
		}
		c := &Console{cfg: Config{Lab: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			limit, offset, _ := control.Part(w, r)
			part := lines[min(offset, n):min(limit+offset, n)]
			sent += len(part)
			control.List(w, part, n)
		})}}
		v := boardView{boardRow: boardRow{ID: "brd_1"}}
		must.OK(t, v.journal(c, t.Context()))
		shown := min(n, journalRows)
		if v.JournalLines != int64(n) || len(v.Journal) != shown || shown > 0 && (v.Journal[0].Seq != int64(n) || v.Journal[shown-1].Seq != int64(n-shown+1)) {
			t.Errorf("%d lines: got %d of %d, want the latest %d: %+v", n, len(v.Journal), v.JournalLines, shown, v.Journal)
		}
		if sent > shown+1 {
			t.Errorf("%d lines: %d were read, want at most %d", n, sent, shown+1)
		}
	}
}
