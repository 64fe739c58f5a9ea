package console

import (
	"fmt"
	"slices"
	"testing"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/wire"
)

// TestFoldedMessages: pairs that say the same are one pair with its number, commands are rows of their own, and what
// differs in more than its time is another row.
func TestFoldedMessages(t *testing.T) {
	t.Parallel()
	f := NewFeed(clock.Real{})
	minutes := func(n, revision int) {
		for i := range n {
			f.Message("brd_1", false, wire.UpDigest, fmt.Appendf(nil, `{"revision":%d}`, revision))
			f.Message("brd_1", true, "ack", fmt.Appendf(nil, `{"type":"digest","sessionMs":%d,"time":%d}`, i, 60*i))
		}
	}
	minutes(3, 1)
	for range 2 {
		f.Message("brd_1", true, wire.DownCmd, []byte(`{"id":"cmd_1"}`))
		f.Message("brd_1", false, wire.UpRpt, []byte(`{"commandId":"cmd_1"}`))
	}
	minutes(20, 1)
	minutes(1, 2)
	rows := func(n int) (out []string) {
		for _, r := range foldedMessages(f.Messages("brd_1", "", messagesRead), n) {
			out = append(out, fmt.Sprintf("%s %d", r.Kind, r.Times))
		}
		return out
	}
	want := []string{"ack 2", "digest 0", "digest 20", "ack 19", "report 0", "command 0", "report 0", "command 0", "ack 3", "digest 3"}
	if got := rows(40); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := rows(4); !slices.Equal(got, want[:4]) {
		t.Errorf("at most 4: got %q, want %q", got, want[:4])
	}
}
