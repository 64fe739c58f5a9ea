package testbed

import (
	"net/http"
	"testing"

	"github.com/doorlab/doorlab/internal/browser"
	"github.com/doorlab/doorlab/internal/client/clienttest"
)

// TestRowsOnPhone: on a phone, Now, Inbox and Faults show every column, and nothing of it is cut off.
func TestRowsOnPhone(t *testing.T) {
	t.Parallel()
	b := browser.Start(t)
	tb := begin(t, Config{Virtual: true})
	board := tb.cfg.World.Places[1].Boards[0]
	clienttest.Do(t, tb.lab(), http.MethodPost, "/lab/v1/faults", map[string]any{"fault": "refuse", "boards": []string{board.ID}}, nil)
	clienttest.Do(t, tb.lab(), http.MethodPost, "/lab/v1/people/present", map[string]any{"doorId": board.Doors[0].ID, "phone": "01099998888"}, nil)
	clienttest.Get(t, tb.Ready.HTTP+"/core/v1/public/places/"+tb.cfg.World.Places[1].ID+"/schedule") // the console's own requests aren't in the inbox
	first := b.Page(browser.Look{})
	signIn(t, tb, first)
	first.Open(tb.Ready.Control + "/boards/" + board.ID)
	first.Press(`document.querySelector("#board\\.doors button.main")`)
	first.Await(`document.querySelector("#toast p")`)
	for name, look := range looks {
		p := b.Page(look)
		signIn(t, tb, p)
		for page, rows := range map[string]string{"": "now.feed", "inbox?place=" + tb.cfg.World.Places[1].ID: "inbox.rows", "faults": "faults.armed"} {
			p.Open(tb.Ready.Control + "/" + page)
			var hidden []string
			p.Eval(`[...document.getElementById("`+rows+`").querySelectorAll("td")].filter(e => e.textContent.trim() && (e.offsetWidth === 0 || e.getBoundingClientRect().right > innerWidth)).map(e => e.textContent)`, &hidden)
			var count int
			if p.Eval(`document.getElementById("`+rows+`").querySelectorAll("tbody tr").length`, &count); count == 0 {
				t.Errorf("%s, %s: no row", name, rows)
			}
			if len(hidden) > 0 {
				t.Errorf("%s, %s: cut off or hidden: %q", name, rows, hidden)
			}
			fits(t, name+" "+rows, p)
			snap(t, rows+"-"+name+".png", p)
		}
	}
}
