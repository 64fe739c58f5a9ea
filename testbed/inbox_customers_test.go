package testbed

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
)

// TestInboxOfCustomers: opening a link, pressing its button and reading the opening hours appear in the place's
// inbox, even if the link was revoked. The link itself never appears, and the checklist ignores these requests.
func TestInboxOfCustomers(t *testing.T) {
	t.Parallel()
	tb := begin(t, Config{})
	place, door := tb.cfg.World.Places[0].ID, tb.cfg.World.Places[0].Boards[0].Doors[0].ID
	p := newVisitor(t, tb, 0)
	p.exchange(p.key)
	_, raw := p.permit("a", "01098761234", tb.clk.Now())
	var permit struct{ Data struct{ EntryToken string } }
	must.OK(t, json.Unmarshal([]byte(raw), &permit))
	link, customer := permit.Data.EntryToken, &visitor{t: t, base: p.base}
	customer.send("GET", "/entry?t="+link, "", "")
	customer.send("POST", "/entry/open", "", `{"t":"`+link+`","doorId":"`+door+`"}`)
	customer.send("GET", "/core/v1/public/places/"+place+"/schedule", "", "")
	customer.send("POST", "/entry/open", "", `{"t":"nobody's","doorId":"`+door+`"}`)
	p.send("POST", "/space/v1/partner/entry-permits/revoke", "", `{"externalRef":"a"}`)
	customer.send("GET", "/entry?t="+link, "", "")

	var got []string
	list := inboxOf(t, tb, "placeId="+place)
	for _, e := range list {
		if full, err := json.Marshal(entryOf(t, tb, e.Seq)); err != nil || bytes.Contains(full, []byte(link)) {
			t.Errorf("%s %s shows the link: %s (%v)", e.Method, e.Route, full, err)
		}
		if e.Customer {
			got = append(got, fmt.Sprint(e.Method, " ", e.Path, " ", e.Status, " ", len(e.Moved)))
		}
	}
	want := []string{"GET /entry?t=[token] 404 0", "GET /core/v1/public/places/" + place + "/schedule 200 0", "POST /entry/open 200 1", "GET /entry?t=[token] 200 0"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	var l struct{ Requests int }
	if err := tb.lab().Do(t.Context(), "GET", "/lab/v1/go-live?placeId="+place, nil, &l); err != nil || l.Requests != len(list)-len(got) {
		t.Errorf("the checklist counts %d requests, %v; want the partner's own %d", l.Requests, err, len(list)-len(got))
	}
}
