package judge

import (
	"slices"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
)

// TestNotAfterOfTheTarget: the server's configuration says how late a command may act and when giving up is allowed;
// the default is 5 s.
func TestNotAfterOfTheTarget(t *testing.T) {
	t.Parallel()
	two := func(first, second int64) func(h *builder) {
		return func(h *builder) {
			late(h)
			h.edit(t, 0, is(history.Started, ""), func(e *history.Event) { e.NotAfterMs, e.WallNs = first, e.WallNs-10_000e6 })
			h.restart()
			h.edit(t, 1, is(history.Started, ""), func(e *history.Event) { e.NotAfterMs = second })
		}
	}
	for name, c := range map[string]struct {
		plant      func(h *builder)
		configured int64 // ms; 0 = unknown
		want       Status
	}{
		"acts 6 s after its acceptance":               {late, 0, Fail},
		"acts 6 s after its acceptance, 20 s allowed": {late, 20_000, Pass},
		"nothing planted, 5 s allowed":                {func(*builder) {}, 5000, Pass},
		"acts 6 s after its acceptance, 1 ms allowed": {late, 1, Fail},
		"acts 6 s after it, later 20 s are allowed":   {two(5000, 20_000), 0, Fail},
		"acts 6 s after it, no longer allowed later":  {two(20_000, 5000), 0, Pass},
	} {
		h := clean()
		c.plant(h)
		for i := range h.events {
			if h.events[i].Kind == history.Started && h.events[i].NotAfterMs == 0 {
				h.events[i].NotAfterMs = c.configured
			}
		}
		for _, v := range Judge(NewView(h.events)) {
			if v.Clause == "CMD-4" && v.Status != c.want {
				t.Errorf("%s: got %s, want %s", name, v, c.want)
			}
		}
	}
}

// late accepts a command 6 s before it acts.
func late(h *builder) {
	i := slices.IndexFunc(h.events, func(e history.Event) bool { return e.Kind == history.Publish })
	id := h.events[i].CommandID
	for j := range h.events {
		if e := &h.events[j]; e.CommandID == id && e.Kind == history.Intent {
			e.WallNs -= 6000e6
		}
	}
}

// TestWithoutNotAfter: a command that is sent without notAfter must still act within 5 s of its acceptance.
func TestWithoutNotAfter(t *testing.T) {
	t.Parallel()
	for ms, want := range map[int64]Status{4000: Pass, 60_000: Fail} {
		h := clean()
		id := commandOf(t, h, "k-silent")
		h.edit(t, 0, is(history.Publish, id), func(e *history.Event) { e.NotAfterMs = 0 })
		h.edit(t, 0, is(history.Actuation, id), func(e *history.Event) { e.WallNs += ms * 1e6 })
		if v := cmd4(NewView(h.events)); v.Status != want {
			t.Errorf("acts after %d ms: %s, want %s", ms, v, want)
		}
	}
}

// TestNotAfterFromAcceptance: the server's own time for storing a command counts, too.
func TestNotAfterFromAcceptance(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tookMs, actMs, leftMs int64
		want                  Status
		at                    string
	}{
		"stored at once, acts in time":       {1, 4000, 5000, Pass, ""},
		"stored after 2 s, acts in time":     {2000, 2000, 3000, Pass, ""},
		"stored after 2 s, acts after 4 s":   {2000, 4000, 5000, Fail, history.Publish},
		"stored after 0.5 s, acts after 5 s": {500, 4900, 5000, Fail, history.Actuation},
		"sent with time of its own":          {2000, 1000, 5000, Fail, history.Publish},
	} {
		h := clean()
		id := commandOf(t, h, "k-silent")
		h.edit(t, 0, is(history.Intent, id), func(e *history.Event) { e.TookNs = c.tookMs * 1e6 })
		h.edit(t, 0, is(history.Publish, id), func(e *history.Event) { e.NotAfterMs = c.leftMs })
		h.edit(t, 0, is(history.Actuation, id), func(e *history.Event) { e.WallNs += c.actMs * 1e6 })
		v := cmd4(NewView(h.events))
		if v.Status != c.want || v.FirstBad != nil && v.FirstBad.Event.Kind != c.at {
			t.Errorf("%s: %s, want %s at %q", name, v, c.want, c.at)
		}
	}
}
