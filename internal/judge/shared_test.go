package judge

import (
	"slices"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

// TestSharedAnswers: a press may be answered with what an earlier one's command came to, without one of its own.
func TestSharedAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		more func(h *builder)
		want bool
	}{
		"within 3 s": {func(h *builder) { h.pass(2000); h.pressed(nil) }, true},
		"later":      {func(h *builder) { h.pass(9000); h.pressed(nil) }, false},
		"of one that was still waiting": {func(h *builder) {
			h.pass(9000)
			h.pressed(func() { h.entered("link") })
			e := &h.events[len(h.events)-6] // its intent: it came 7 s before the press that joined
			e.At, e.WallNs = e.At-7000, e.WallNs-7000e6
		}, true},
		"over a restart": {func(h *builder) { h.pass(9000); h.restart(); h.pass(1000); h.pressed(nil) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := linked()
			h.pass(60_000)
			h.press(200, "")
			c.more(h)
			s := NewView(h.events).served()
			if got := len(s.of("ENT-3").found) == 0; got != c.want {
				t.Errorf("passes: %t, want %t: %v", got, c.want, s.of("ENT-3").found)
			}
		})
	}
}

// TestPressedAtTheStart: nothing was before the first start of a world, so a press right after it shares nobody's answer.
func TestPressedAtTheStart(t *testing.T) {
	t.Parallel()
	for _, command := range []bool{true, false} {
		h := linked()
		h.command("brd_1", "k", "open", vocab.Reported, true, 0)
		h.pass(100)
		h.pressed(func() {
			if command {
				h.entered("link")
			}
		})
		if found := NewView(h.events).served().of("ENT-3").found; (len(found) == 0) != command {
			t.Errorf("with a command %t: %v", command, found)
		}
	}
}

// linked is a world that has just started, in which mia has a link.
func linked() *builder {
	h := newBuilder()
	h.emit(history.Event{Kind: history.Started, Text: "server"})
	h.base("plc_a")
	h.addBoard("plc_a", "brd_1")
	h.online("brd_1")
	h.register(1)
	return h
}

// pressed is a press of mia's link now, answered that the door has opened.
func (h *builder) pressed(change func()) {
	h.did("plc_a", "POST", linkRoute, 200, history.CallText{In: fields{"t": "link of mia", "doorId": doorOf("brd_1", 1)}}, change)
}

// TestActuationFirst: with clocks of two machines, an actuation may seem to come before its intent. On a target, too, the
// command is the run's own, so the press that it answers has one.
func TestActuationFirst(t *testing.T) {
	t.Parallel()
	h := newBuilder()
	h.emit(history.Event{Kind: history.Started, Text: "server"})
	h.base("plc_a")
	h.addBoard("plc_a", "brd_1")
	h.online("brd_1")
	h.register(1)
	h.emit(history.Event{Kind: history.Begun})
	h.pass(9000)
	h.press(200, "")
	intent, act := -1, -1
	for i, e := range h.events {
		switch e.Kind {
		case history.Intent:
			intent = i
		case history.Actuation:
			act = i
		}
	}
	if intent < 0 || act < intent {
		t.Fatalf("intent %d, actuation %d: want both, in this order", intent, act)
	}
	moved := h.events[act]
	h.events = slices.Insert(slices.Delete(h.events, act, act+1), intent, moved)
	v := NewView(h.events)
	if found := v.served().of("ENT-3").found; len(found) > 0 || len(v.order) != 1 {
		t.Errorf("%d commands of the run, found %v; want 1 and nothing", len(v.order), found)
	}
}
