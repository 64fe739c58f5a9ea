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
	for name, c := range map[string]struct {
		plant      func(h *builder)
		configured int64 // ms; 0 = unknown
		want       Status
	}{
		"acts 6 s after its acceptance":               {late, 0, Fail},
		"acts 6 s after its acceptance, 20 s allowed": {late, 20_000, Pass},
		"nothing planted, 5 s allowed":                {func(*builder) {}, 5000, Pass},
		"acts 6 s after its acceptance, 1 ms allowed": {late, 1, Fail},
	} {
		h := clean()
		c.plant(h)
		for i := range h.events {
			if h.events[i].Kind == history.Started {
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
