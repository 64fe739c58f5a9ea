package testbed

import (
	"net/http"
	"os"
	"strconv"
	"testing"

	"github.com/doorlab/doorlab/internal/browser"
	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/world"
)

// TestConsoleAtScale measures the map of boards with DOORLAB_SCALE of them: when
// it is first painted, and how long after a board is cut its square says so. It
// judges no time: the machine may be busy.
func TestConsoleAtScale(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("DOORLAB_SCALE"))
	if n == 0 {
		t.Skip("set DOORLAB_SCALE to a number of boards")
	}
	b := browser.Start(t)
	tb := begin(t, Config{Virtual: true, World: world.Default(1, n)})
	p := b.Page(browser.Look{})
	signIn(t, tb, p)
	for _, path := range []string{"/", "/boards", "/faults"} {
		for range 3 {
			p.Open(tb.Ready.Control + path)
			var paint, done float64
			var size int
			p.Await(`performance.getEntriesByName("first-contentful-paint").length > 0`)
			p.Eval(`performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? -1`, &paint)
			p.Eval(`performance.getEntriesByType("navigation")[0].loadEventEnd`, &done)
			p.Eval(`document.documentElement.outerHTML.length`, &size)
			t.Logf("%s: first paint %.0f ms, loaded %.0f ms, %d bytes", path, paint, done, size)
		}
	}
	var squares int
	p.Open(tb.Ready.Control + "/boards")
	if p.Eval(`document.querySelectorAll(".squares a").length`, &squares); squares < n {
		t.Errorf("the map has %d squares, want %d", squares, n)
	}
	last := tb.cfg.World.Places[len(tb.cfg.World.Places)-1].Boards
	for i := range 5 {
		id := last[i].ID
		began := clock.Mono()
		clienttest.Do(t, tb.lab(), http.MethodPost, "/lab/v1/faults", map[string]any{"fault": "offline", "boards": []string{id}}, nil)
		p.Await(`document.querySelector('#boards\\.data a[href="/boards/` + id + `"]').className === "g"`)
		t.Logf("a cut board's square changed after %s", clock.Mono()-began)
	}
	snap(t, "console-scale.png", p)
	clean(t, p, tb.Ready.Control)
}
