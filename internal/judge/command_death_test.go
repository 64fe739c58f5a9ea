package judge

import (
	"testing"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
)

// TestLookedInto: that the server died with a command in flight shows nothing unless somebody looks at what became of it.
func TestLookedInto(t *testing.T) {
	t.Parallel()
	read := func(c history.CallText, route string) func(*builder) {
		return func(h *builder) { h.did("plc_a", "GET", route, 200, c, nil) }
	}
	records := []any{fields{"recordId": "rec_1"}}
	for name, tc := range map[string]struct {
		after func(*builder)
		want  bool
	}{
		"nobody":                   {func(*builder) {}, false},
		"the key is used again":    {func(h *builder) { h.reuse("brd_1", "k", "hold") }, true},
		"another key":              {func(h *builder) { h.command("brd_1", "other", "open", vocab.Reported, true, 0) }, false},
		"records are read":         {read(history.CallText{Told: records}, "/space/v1/entry-logs"), true},
		"records of none":          {read(history.CallText{}, "/space/v1/entry-logs"), false},
		"by the client on its own": {read(history.CallText{Told: records, Own: true}, "/space/v1/entry-logs"), false},
		"a door is read":           {read(history.CallText{}, "/device/v1/devices/{id}"), false},
		"the journal is looked at": {func(h *builder) { h.emit(history.Event{Kind: history.Look, Text: "journal", PlaceID: "plc_a"}) }, true},
		"another place's journal":  {func(h *builder) { h.emit(history.Event{Kind: history.Look, Text: "journal", PlaceID: "plc_b"}) }, false},
		"the boards are looked at": {func(h *builder) { h.emit(history.Event{Kind: history.Look, Text: "synced", PlaceID: "plc_a"}) }, false},
	} {
		h := raced()
		h.command("brd_1", "k", "open", vocab.Reported, true, 0)
		h.events = without(func(e *history.Event) bool { return e.Kind == history.Answer || e.Kind == history.RecordIn })(h.events)
		h.emit(history.Event{Kind: history.Started, Text: "server"})
		h.online("brd_1")
		tc.after(h)
		if got := cmd6(NewView(h.events)); got.Checked != 1 || (len(got.Untried) == 0) != tc.want {
			t.Errorf("%s: %s, lacks %q; want 1 command, tried: %t", name, got, got.Untried, tc.want)
		}
	}
}

// TestInFlightWhere: the occasion of a command that was in flight when the server died is at its door, and lasts until its
// key was last used.
func TestInFlightWhere(t *testing.T) {
	t.Parallel()
	h := raced()
	h.command("brd_1", "k", "open", vocab.Reported, true, 0)
	h.events = without(func(e *history.Event) bool { return e.Kind == history.Answer || e.Kind == history.RecordIn })(h.events)
	h.emit(history.Event{Kind: history.Started, Text: "server"})
	died := h.wall
	h.online("brd_1")
	h.live(60_000)
	again := h.wall
	h.reuse("brd_1", "k", "hold")
	got := cmd6(NewView(h.events)).Occasions
	if len(got) != 1 || got[0].Door != doorOf("brd_1", 1) || got[0].From > died || got[0].To < again {
		t.Errorf("got %+v, want one from before %d until after %d", got, died, again)
	}
}
