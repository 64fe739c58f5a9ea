package judge

import (
	"slices"
	"strings"
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

// TestResentAfterNoAnswer: a key whose first request had no answer is used again by the one that gets the first answer,
// whether that repeats a result or not. Another request that follows, is answered or was sent before the run isn't enough.
func TestResentAfterNoAnswer(t *testing.T) {
	t.Parallel()
	without := func(h *builder, request string) []history.Event {
		return slices.DeleteFunc(h.events, func(e history.Event) bool { return e.Kind == history.Answer && e.Request == request })
	}
	requests := func(h *builder) (ids []string) {
		for _, e := range h.events {
			if e.Kind == history.Attempt {
				ids = append(ids, e.Request)
			}
		}
		return ids
	}
	for name, c := range map[string]struct {
		lost   int // the request of this number had no answer
		change func(e *history.Event)
		begun  bool // the run begins after the first request
		tried  bool
	}{
		"the repeat is replayed":                 {0, nil, false, true},
		"the repeat says nothing":                {0, func(e *history.Event) { e.Replayed = false }, false, true},
		"the second request had no answer":       {1, nil, false, false},
		"replayed from before the run":           {0, nil, true, true},
		"first request before the run, unproved": {0, func(e *history.Event) { e.Replayed = false }, true, false},
	} {
		h := raced()
		h.command("brd_1", "k", "open", vocab.Reported, true, 1)
		ids := requests(h)
		events := without(h, ids[c.lost])
		for i := range events {
			if e := &events[i]; e.Kind == history.Answer && c.change != nil {
				c.change(e)
			}
		}
		if c.begun {
			at := slices.IndexFunc(events, func(e history.Event) bool { return e.Request == ids[1] })
			events = slices.Insert(events, at, history.Event{Kind: history.Begun, At: events[at].At, WallNs: events[at].WallNs})
		}
		for i := range events {
			events[i].Seq = int64(i + 1)
		}
		if got := cmd5(NewView(events)); got.Status == Fail || (len(got.Untried) == 0) != c.tried {
			t.Errorf("%s: %s, lacks %q; want it counted: %t", name, got, got.Untried, c.tried)
		}
	}
}

// TestRepeatAnsweredFirst: if a repeat is answered before the request that it repeats, that is still one repeat.
func TestRepeatAnsweredFirst(t *testing.T) {
	t.Parallel()
	h := raced()
	h.command("brd_1", "k", "open", vocab.Reported, true, 1)
	for i := range h.events {
		if e := &h.events[i]; e.Kind == history.Answer {
			e.Replayed = !e.Replayed
		}
	}
	if got := cmd5(NewView(h.events)); got.Status != Pass || !strings.Contains(got.Number, " 1 repeats,") {
		t.Errorf("%s; want one repeat", got)
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
	h := offlineBoard()
	h.online("brd_1")
	return h
}
