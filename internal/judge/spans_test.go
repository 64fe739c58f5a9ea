package judge

import (
	"testing"

	"github.com/doorlab/doorlab/internal/history"
)

// TestLossyLines: a board is in sync within 300 s if it is connected by a line that carries anything. One that loses every
// packet leaves the connection as it is.
func TestLossyLines(t *testing.T) {
	t.Parallel()
	lossy := func(text string) history.Event {
		return history.Event{Kind: history.Line, BoardID: "brd_1", Op: "lossy", Text: text}
	}
	up := history.Event{Kind: history.Line, BoardID: "brd_1", Op: "up", Text: history.Packets}
	for name, c := range map[string]struct {
		before, after []history.Event // 301 s, and the 299 s until it is in sync
		want          Status
	}{
		"nothing is lost":               {nil, nil, Fail},
		"some are":                      {[]history.Event{lossy(history.Packets)}, nil, Fail},
		"all are":                       {[]history.Event{lossy(history.AllPackets)}, nil, Pass},
		"all are, no longer":            {[]history.Event{lossy(history.AllPackets), up}, nil, Fail},
		"all are, then some":            {[]history.Event{lossy(history.AllPackets), lossy(history.Packets)}, nil, Fail},
		"all are, until the last five":  {[]history.Event{lossy(history.AllPackets)}, []history.Event{up}, Pass},
		"some are, until the last five": {[]history.Event{lossy(history.Packets)}, []history.Event{up}, Fail},
	} {
		h := clean()
		applied := func(board string) {
			h.emit(history.Event{Kind: history.Applied, BoardID: board, PlaceID: "plc_a", Revision: h.rev["plc_a"], Digest: "d"})
		}
		for _, e := range c.before {
			h.emit(e)
		}
		h.rev["plc_a"]++
		h.emit(history.Event{Kind: history.Committed, PlaceID: "plc_a", Revision: h.rev["plc_a"], Digest: "d", GrantID: "pmt_5", Op: "register"})
		applied("brd_2")
		h.pass(FreshMs + 1000)
		for _, e := range c.after {
			h.emit(e)
		}
		h.pass(FreshMs - 1000)
		applied("brd_1")
		if v := sync1(NewView(h.events)); v.Status != c.want {
			t.Errorf("%s: %s, want %s", name, v, c.want)
		}
	}
}
