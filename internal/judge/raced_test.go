package judge

import (
	"testing"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

// TestRacedKey: a key that is refused for another command counts as used again, also if the refusal comes before the
// answer to the command that has it.
func TestRacedKey(t *testing.T) {
	t.Parallel()
	h := raced()
	h.command("brd_1", "raced", "open", vocab.Reported, true, 0)
	if got := cmd5(NewView(h.events)); len(got.Untried) != 1 {
		t.Errorf("one command: lacks %q, want one thing", got.Untried)
	}
	h = raced()
	h.reuse("brd_1", "raced", "hold")
	h.command("brd_1", "raced", "open", vocab.Reported, true, 0)
	if got := cmd5(NewView(h.events)); len(got.Untried) != 0 || got.Status != Pass {
		t.Errorf("%s, lacks %q; want PASS, lacking nothing", got, got.Untried)
	}
}

// TestUnansweredWhenTheServerDied: a command that was recorded, but not answered when the server died, was in progress.
func TestUnansweredWhenTheServerDied(t *testing.T) {
	t.Parallel()
	for name, answered := range map[string]bool{"before the answer": false, "after it": true} {
		h := raced()
		h.command("brd_1", "k", "open", vocab.Reported, true, 0)
		last := h.events[len(h.events)-1]
		if !answered {
			h.events = h.events[:len(h.events)-1]
		}
		h.emit(history.Event{Kind: history.Started, Text: "server"})
		h.online("brd_1")
		last.Replayed, last.At = true, 0
		h.emit(last)
		if got := cmd6(NewView(h.events)); (got.Checked == 1) == answered || got.Status == Fail {
			t.Errorf("%s: %s; want it counted: %t", name, got, !answered)
		}
	}
}

func raced() *builder {
	h := newBuilder()
	h.base("plc_a")
	h.addBoard("plc_a", "brd_1")
	h.online("brd_1")
	return h
}
