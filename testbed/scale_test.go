package testbed

import (
	"net/http"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/doorlab/doorlab/internal/browser"
	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/plot"
	"github.com/doorlab/doorlab/internal/world"
)

// TestConsoleAtScale ('make console-bench') measures how fast the console is with DOORLAB_SCALE boards: when a page
// is first painted, and how soon after a board is cut its square on the map shows it. The console's effect on
// commands is measured by TestConsoleThroughput. No time fails the test, because the machine may be busy.
func TestConsoleAtScale(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("DOORLAB_SCALE"))
	if n == 0 {
		t.Skip("make console-bench")
	}
	b := browser.Start(t)
	tb := begin(t, Config{Virtual: true, World: world.Default(1, n), Client: Light})
	p := b.Page(browser.Look{})
	signIn(t, tb, p)
	t.Logf("%d boards; each page is opened three times", n)
	for _, path := range []string{"/", "/boards", "/faults"} {
		for range 3 {
			p.Open(tb.Ready.Control + path)
			var paint, done float64
			var size int
			p.Await(`performance.getEntriesByName("first-contentful-paint").length > 0`)
			p.Eval(`performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? -1`, &paint)
			p.Eval(`performance.getEntriesByType("navigation")[0].loadEventEnd`, &done)
			p.Eval(`document.documentElement.outerHTML.length`, &size)
			t.Logf("%-8s first paint after %4.0f ms, loaded after %4.0f ms, %4d kB", path, paint, done, size/1000)
		}
	}
	var squares int
	p.Open(tb.Ready.Control + "/boards")
	if p.Eval(`document.querySelectorAll(".squares a").length`, &squares); squares < n {
		t.Errorf("the map has %d squares, want %d", squares, n)
	}
	last := tb.cfg.World.Places[len(tb.cfg.World.Places)-1].Boards
	var lag []float64
	for i := range 5 {
		id := last[i].ID
		began := clock.Mono()
		clienttest.Do(t, tb.lab(), http.MethodPost, "/lab/v1/faults", map[string]any{"fault": "offline", "boards": []string{id}}, nil)
		p.Await(`document.querySelector('#boards\\.data a[href="/boards/` + id + `"]').className === "g"`)
		lag = append(lag, float64((clock.Mono() - began).Milliseconds()))
	}
	t.Logf("a cut board's square changed after %.0f ms in the median of %d, %.0f ms at most", plot.Median(lag), len(lag), slices.Max(lag))
	snap(t, "console-scale.png", p)
	clean(t, p, tb.Ready.Control)
}
