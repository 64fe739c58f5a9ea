package testbed

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"testing"

	"github.com/doorlab/doorlab/internal/browser"
	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/world"
)

// TestDocsPictures ('make pictures') takes the pictures of docs/console.md and the README, in a lab where something has
// happened: boards cut for more than 36 h, faults, commands of every outcome, a call and a link.
func TestDocsPictures(t *testing.T) {
	if os.Getenv("DOORLAB_PICTURES") == "" {
		t.Skip("make pictures")
	}
	t.Parallel()
	b := browser.Start(t)
	tb := begin(t, Config{Virtual: true, World: world.Default(1, 600)})
	lab := func(path string, body any) {
		t.Helper()
		clienttest.Do(t, tb.lab(), http.MethodPost, "/lab/v1"+path, body, nil)
	}
	door := func(place int) string { return tb.cfg.World.Places[place].Boards[0].Doors[0].ID }
	board := func(place int) []string { return []string{tb.cfg.World.Places[place].Boards[0].ID} }
	lab("/faults", map[string]any{"fault": "offline", "share": 0.05})
	lab("/clock/advance", map[string]any{"by": "36h"})
	lab("/faults", map[string]any{"fault": "slow", "share": 0.1, "params": map[string]any{"p50Ms": 300, "p99Ms": 900}})
	lab("/faults", map[string]any{"fault": "offline", "share": 0.03})
	lab("/faults", map[string]any{"fault": "refuse", "boards": board(3), "params": map[string]any{"code": "jammed"}})
	lab("/faults", map[string]any{"fault": "offline", "boards": board(5)})

	v := newVisitor(t, tb, 1)
	v.exchange(v.key)
	_, body := v.permit("order-1", "01012345678", tb.clk.Now())
	var permit struct{ Data struct{ EntryToken string } }
	must.OK(t, json.Unmarshal([]byte(body), &permit))
	for place := 5; place > 0; place-- {
		open(t, tb, place, fmt.Sprintf("picture-%d", place))
	}
	lab("/people/call", map[string]any{"to": tb.Ready.Places[1].EntryPhone, "from": "01012345678"})
	v.send(http.MethodPost, "/entry/open", "", `{"t":"`+permit.Data.EntryToken+`","doorId":"`+door(1)+`"}`)
	lab("/people/present", map[string]any{"phone": "01000000001", "doorId": door(2)})
	open(t, tb, 1, "picture-last")

	p := b.Page(browser.Look{Width: 1280, Height: 800})
	signIn(t, tb, p)
	p.Await(`document.querySelector("#now\\.feed").textContent.includes("jammed") && document.getElementById("stream").dataset.state == "on"`)
	snap(t, "console-now.png", p)
	for _, x := range []struct{ name, path string }{{"console-boards.png", "/boards"}, {"console-board.png", "/boards/" + board(1)[0]}} {
		p.Open(tb.Ready.Control + x.path)
		p.Await(`document.getElementById("stream").dataset.state == "on"`)
		snap(t, x.name, p)
	}
	p.Open(tb.Ready.Control + "/")
	p.PressTo(`[...document.querySelectorAll("#now\\.feed tr")].find(r => r.textContent.includes("jammed")).querySelector("a[href^='/commands/']")`)
	snap(t, "console-command.png", p)
}
