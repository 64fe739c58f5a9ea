package router_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/apikey"
	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/router"
	"github.com/doorlab/doorlab/internal/shard"
	"github.com/doorlab/doorlab/internal/world"
)

// lead sends a request for every place in every way, and returns those that reached the wrong cell.
func (c *cells) lead(t *testing.T) (wrong []string) {
	t.Helper()
	const form, typed = "application/x-www-form-urlencoded", "application/json; charset=utf-8"
	c.whose(func(cell string, p world.Place) {
		link := shard.Label(p.ID) + strings.Repeat("x", 35)
		key := apikey.New(apikey.LivePrefix, p.ID)
		for _, q := range [][]string{
			{"GET", "/device/v1/devices", "", "Authorization", tokenOf(p.ID)},
			{"POST", "/device/v1/doors/dor_1/open", "{}", "authorization", strings.Replace(tokenOf(p.ID), "Bearer", "bearer", 1)},
			{"POST", "/space/v1/customers/import", strings.Repeat("x", 1<<20), "Authorization", tokenOf(p.ID)},
			{"GET", "/core/v1/public/places/" + p.ID + "/schedule?days=3", ""},
			{"GET", "/core/v1/public/places/" + url.PathEscape(p.ID[:4]) + "%" + fmt.Sprintf("%x", p.ID[4]) + p.ID[5:] + "/schedule", ""},
			{"GET", "/entry?t=" + link, ""},
			{"GET", "/entry/qr.svg?t=" + link, ""},
			{"POST", "/entry/open", "t=" + link + "&doorId=dor_1", "Content-Type", form},
			{"POST", "/entry/open", `{"doorId":"dor_1","t":"` + link + `"}`, "Content-Type", typed},
			{"POST", "/entry/open", `{"t":"` + link + `","doorId":"dor_1"}`, "Content-Type", "application/json"},
			{"POST", "/entry/open", "t=stranger&doorId=" + p.Boards[0].Doors[0].ID, "Content-Type", form},
			{"POST", "/entry/open", `{"t":"` + strings.Repeat("x", 43) + `","doorId":"` + p.Boards[0].Doors[0].ID + `"}`, "Content-Type", typed},
			{"POST", "/core/v1/auth/apikey/token", `{"key": "` + key + `"}`, "Content-Type", typed},
		} {
			if status, got, _ := c.do(t, q[0], q[1], q[2], q[3:]...); status != 200 || got != cell {
				wrong = append(wrong, fmt.Sprintf("%s %.40s: %d from cell %s, want 200 from %s", q[0], q[1], status, got, cell))
			}
		}
		for _, b := range p.Boards {
			if got := dial(t, c.mqtt, b.ID); got != cell {
				wrong = append(wrong, fmt.Sprintf("CONNECT of %s: cell %q, want %s", b.ID, got, cell))
			}
		}
		if got := c.call(t, p.EntryPhone); got != cell {
			wrong = append(wrong, fmt.Sprintf("a call of %s: cell %q, want %s", p.EntryPhone, got, cell))
		}
	})
	return wrong
}

// TestEverythingIsLed: requests are routed by the place in the token, by the schedule's path, by the label of a newly
// made key or entry link, and by a board's user name.
func TestEverythingIsLed(t *testing.T) {
	t.Parallel()
	c := startCells(t, number, nil)
	for _, w := range c.lead(t) {
		t.Error(w)
	}
	for _, path := range []string{"/", "/docs/core", "/core/v1/openapi.json", "/version", "/entry?t=stranger", "/device/v1/devices"} {
		if status, got, _ := c.do(t, "GET", path, ""); status != 200 || !strings.Contains("123", got) {
			t.Errorf("GET %s: %d from cell %q, want 200 from any", path, status, got)
		}
	}
	if got := dial(t, c.mqtt, "brd_stranger"); got == "" || !strings.Contains("123", got) {
		t.Errorf("a stranger's CONNECT is led to %q, want any cell, which refuses it", got)
	}
}

// TestMadeUpLinks: every press of a link that nobody made reaches the same cell, where presses are counted: the door's, as
// soon as one named a door.
func TestMadeUpLinks(t *testing.T) {
	t.Parallel()
	c := startCells(t, number, nil)
	press := func(link, door string) string {
		t.Helper()
		status, cell, _ := c.do(t, "POST", "/entry/open", `{"t":"`+link+`","doorId":"`+door+`"}`, "Content-Type", "application/json")
		if status != 200 {
			t.Errorf("a press of %s: %d, want 200", link, status)
		}
		return cell
	}
	cells := map[string]bool{}
	for i := range 20 {
		link := fmt.Sprintf("made-up-%d", i)
		first := press(link, "dor_none")
		cells[first] = true
		for range 3 {
			if got := press(link, "dor_none"); got != first {
				t.Errorf("%s reached cell %s, want %s as before", link, got, first)
			}
		}
	}
	if len(cells) < 2 {
		t.Errorf("all made-up links reached %v, want them spread", cells)
	}
	c.whose(func(cell string, p world.Place) {
		link := "made-up-at-" + p.ID
		for _, door := range []string{p.Boards[0].Doors[0].ID, "dor_none"} {
			if got := press(link, door); got != cell {
				t.Errorf("%s pressed for %s reached cell %s, want %s", link, door, got, cell)
			}
		}
	})
}

// TestWrongCellIsSeen plants wrong entries in each map, and lead must notice.
func TestWrongCellIsSeen(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"places.map", "labels.map", "boards.map", "doors.map", "sip.map"} {
		c := startCells(t, number, func(f *router.File) {
			if f.Name != name {
				return
			}
			lines := strings.SplitAfter(f.Text, "\n")
			key, _, _ := strings.Cut(lines[0], " ")
			for _, l := range lines {
				if _, cell, ok := strings.Cut(l, " "); ok && !strings.HasSuffix(lines[0], " "+cell) {
					lines[0] = key + " " + cell // somebody else's
					break
				}
			}
			f.Text = strings.Join(lines, "")
		})
		if wrong := c.lead(t); len(wrong) == 0 {
			t.Errorf("%s has a wrong cell, but no request reached the wrong one", name)
		}
	}
}

// TestExchangesOverAllCells: the 31st exchange of an address is refused the way a server refuses it, whichever cells
// got the others. Refused exchanges and other calls don't count.
func TestExchangesOverAllCells(t *testing.T) {
	t.Parallel()
	var forwarded []string
	c := startCells(t, func(cell int, w http.ResponseWriter, r *http.Request) { // one call at a time
		forwarded = r.Header.Values("X-Forwarded-For")
		number(cell, w, r)
	}, nil)
	at := map[string]int{}
	exchange := func(n int) (int, string, http.Header) {
		key := apikey.New(apikey.LivePrefix, c.world.Places[n%3].ID)
		return c.do(t, "POST", "/core/v1/auth/apikey/token", `{"key":"`+key+`"}`, "X-Forwarded-For", "203.0.113."+strconv.Itoa(n), "X-Request-Id", "request-31")
	}
	for n := range 30 {
		status, cell, _ := exchange(n)
		if at[cell]++; status != 200 {
			t.Fatalf("exchange %d: %d, want 200", n+1, status)
		}
		if len(forwarded) != 1 || forwarded[0] != "127.0.0.1" {
			t.Fatalf("the cell is told that %q asks, want 127.0.0.1 only", forwarded)
		}
	}
	if at["1"] != 10 || at["2"] != 10 || at["3"] != 10 {
		t.Errorf("the exchanges went to %v, want 10 to each cell", at)
	}
	for n := range 3 {
		status, body, h := exchange(n)
		var e client.Error
		wait, err := strconv.Atoi(h.Get("Retry-After"))
		if json.Unmarshal([]byte(body), &e) != nil || status != 429 || err != nil || wait < 1 || wait > 60 ||
			body != `{"error":"rate_limited","message":"too many token exchanges from this address","statusCode":429}` {
			t.Errorf("exchange %d: %d %s, Retry-After %q; want the server's own 429 and 1 to 60 s", 31+n, status, body, h.Get("Retry-After"))
		}
		for name, want := range map[string]string{"Content-Type": "application/json", "X-Request-Id": "request-31", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"} {
			if got := h.Get(name); got != want {
				t.Errorf("exchange %d: %s is %q, want %q", 31+n, name, got, want)
			}
		}
	}
	if status, _, _ := c.do(t, "GET", "/device/v1/devices", "", "Authorization", tokenOf(c.world.Places[0].ID)); status != 200 {
		t.Errorf("another call of that address: %d, want 200", status)
	}
}

// TestVirtualClocks: if the cells run on virtual clocks, the router passes every exchange on and tells the cell whose
// it is, because each cell enforces the limit in its own time.
func TestVirtualClocks(t *testing.T) {
	t.Parallel()
	var forwarded []string
	c := startCellsOf(t, func(rc *router.Config) { rc.Virtual = true }, func(cell int, w http.ResponseWriter, r *http.Request) {
		forwarded = r.Header.Values("X-Forwarded-For")
		number(cell, w, r)
	}, nil)
	for n := range 40 {
		key := apikey.New(apikey.LivePrefix, c.world.Places[1].ID)
		if n%2 == 1 { // a stranger's request counts where the caller's last one did
			key = "nobody's"
		}
		status, cell, _ := c.do(t, "POST", "/core/v1/auth/apikey/token", `{"key":"`+key+`"}`, "X-Forwarded-For", "203.0.113.1")
		if status != 200 || cell != "2" || len(forwarded) != 1 || forwarded[0] != "127.0.0.1" {
			t.Fatalf("exchange %d: %d from cell %s, which is told that %q asks; want 200 from cell 2 for 127.0.0.1", n+1, status, cell, forwarded)
		}
	}
}

// TestGoneCell: while a cell is down, requests for its places get a 503 in the API's format, even if it broke off
// mid-request. Other cells aren't affected, and a server's own 502 is passed on.
func TestGoneCell(t *testing.T) {
	t.Parallel()
	c := startCells(t, func(cell int, w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/broken":
			panic(http.ErrAbortHandler)
		case r.URL.Path == "/refused":
			w.WriteHeader(502)
		}
		number(cell, w, r)
	}, nil)
	token := func(n int) []string { return []string{"Authorization", tokenOf(c.world.Places[n].ID)} }
	gone := func(path string) {
		t.Helper()
		status, body, h := c.do(t, "POST", path, "", token(1)...)
		var e struct {
			Error, Reason, Detail string
			StatusCode            int
		}
		if err := json.Unmarshal([]byte(body), &e); err != nil || status != 503 || e.Error != "storage_unavailable" || e.StatusCode != 503 || e.Reason != e.Error || e.Detail == "" || h.Get("Retry-After") == "" {
			t.Errorf("%s: %d %s, Retry-After %q; want 503 storage_unavailable and when to try again", path, status, body, h.Get("Retry-After"))
		}
	}
	gone("/broken")
	if status, body, _ := c.do(t, "POST", "/refused", "", token(1)...); status != 502 || body != "2" {
		t.Errorf("a server's own 502 arrives as %d %s, want 502 from cell 2", status, body)
	}
	c.servers[1].Close()
	gone("/device/v1/devices")
	c.pageOfGoneCell(t)
	for _, n := range []int{0, 2} {
		if status, body, _ := c.do(t, "GET", "/device/v1/devices", "", token(n)...); status != 200 || body != strconv.Itoa(n+1) {
			t.Errorf("a place of cell %d: %d from %s, want 200 from it", n+1, status, body)
		}
	}
}
