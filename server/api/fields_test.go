package api

import (
	"fmt"
	"image/png"
	"net/http"
	"strings"
	"testing"
	"time"

	"rsc.io/qr"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/server/board"
)

// stateless shows board brd_a in a given connection state.
type stateless struct {
	*fakeBoards
	state string
}

func (s stateless) Status(boardID string) board.Status {
	b := s.fakeBoards.Status(boardID)
	if boardID == "brd_a" {
		b.State = s.state
	}
	return b
}

// TestHealthState: the state of a board's connection is the health of its doors.
func TestHealthState(t *testing.T) {
	t.Parallel()
	for _, state := range []string{board.Unknown, board.Online, board.Offline} {
		h := newHouse(t, func(c *Config) { c.Boards = stateless{c.Boards.(*fakeBoards), state} })
		for _, path := range []string{"/device/v1/devices/dor_1", "/device/v1/devices"} {
			r := h.want(200, "", request{method: "GET", path: path, token: "key_d"})
			row := r.data()
			if row == nil {
				row = r.json["data"].([]any)[0].(map[string]any)
			}
			if got := row["health"].(map[string]any)["state"]; got != state || row["id"] != "dor_1" || row["name"] != "Front" {
				t.Errorf("%s of a board that is %s: got health.state %v, id %v, name %v, want %s, dor_1, Front", path, state, got, row["id"], row["name"], state)
			}
		}
	}
}

// TestNamesAndTimes: name fields show names, not ids, and a record shows when it was requested, not when it was
// stored.
func TestNamesAndTimes(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	first := func(path string) map[string]any {
		t.Helper()
		list := h.want(200, "", request{method: "GET", path: path, token: "key_a"}).json["data"].([]any)
		return list[0].(map[string]any)
	}
	h.want(200, "", request{method: "POST", path: permits, token: "key_a", body: permitBody[:1] + `"name":"Kim",` + permitBody[1:]})
	if p := first(permits); p["name"] != "Kim" || p["externalRef"] != "m-1" {
		t.Errorf("permit: got name %v and externalRef %v, want Kim and m-1", p["name"], p["externalRef"])
	}
	h.want(200, "", request{method: "POST", path: "/device/v1/devices/dor_1/commands", token: "key_a", header: map[string]string{"Idempotency-Key": "names"},
		body: `{"capability":"door","command":"open"}`})
	r := first("/space/v1/partner/entry-logs")
	if r["doorId"] != "dor_1" || r["doorName"] != "Front" || r["result"] != "opened" || r["requestedAt"] != "2026-11-01T03:00:00.000Z" {
		t.Errorf("record: got door %v %q, result %v, requestedAt %v, want dor_1 \"Front\", opened, 2026-11-01T03:00:00.000Z",
			r["doorId"], r["doorName"], r["result"], r["requestedAt"])
	}
}

// TestListsAreNarrowed: offset, sinceDays, and the events' period and result filter the lists.
func TestListsAreNarrowed(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for i := range 2 {
		h.permit(fmt.Sprintf(`{"externalRef":"p-%d",%s`, i, permitBody[len(`{"externalRef":"m-1",`):]))
	}
	h.want(200, "", request{method: "POST", path: "/device/v1/devices/dor_1/commands", token: "key_a", header: map[string]string{"Idempotency-Key": "lists"},
		body: `{"capability":"door","command":"open"}`})
	h.tick(25 * time.Hour)
	h.tokens["key_a"] = h.exchange("key_a")
	for path, want := range map[string]int{
		permits:               2,
		permits + "?offset=1": 1,
		permits + "?offset=2": 0,
		"/space/v1/partner/entry-logs?sinceDays=1":                                       0,
		"/space/v1/partner/entry-logs?sinceDays=2":                                       1,
		"/core/v1/places/plc_a/events?from=2026-11-01T00:00:00Z&result=opened":           1,
		"/core/v1/places/plc_a/events?from=2026-11-01T00:00:00Z&result=denied":           0,
		"/core/v1/places/plc_a/events?from=2026-11-01T00:00:00Z&to=2026-11-01T03:00:00Z": 0,
		"/core/v1/places/plc_a/events?from=2026-11-01T03:00:00Z":                         1,
		"/core/v1/places/plc_a/events?from=2026-11-02T03:00:00Z":                         0,
	} {
		r := h.want(http.StatusOK, "", request{method: "GET", path: path, token: "key_a"})
		if got := len(r.json["data"].([]any)); got != want {
			t.Errorf("GET %s: got %d rows, want %d", path, got, want)
		}
	}
}

// TestQRLeadsToTheLink: the QR code contains the permit's url, in both forms.
func TestQRLeadsToTheLink(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	p := h.permit(permitBody).data()
	want := must.Get(qr.Encode(p["url"].(string), qr.M))(t)
	svg := h.want(200, "", request{method: "GET", path: "/entry/qr.svg?t=" + p["entryToken"].(string)}).Body.String()
	img := must.Get(png.Decode(h.want(200, "", request{method: "GET", path: "/entry/qr.png?t=" + p["entryToken"].(string)}).Body))(t)
	module := img.Bounds().Dx() / (want.Size + 2*quiet)
	for y := range want.Size {
		for x := range want.Size {
			drawn := strings.Contains(svg, fmt.Sprintf("M%d %dh1v", x+quiet, y+quiet))
			lum, _, _, _ := img.At((x+quiet)*module+module/2, (y+quiet)*module+module/2).RGBA()
			if black := want.Black(x, y); drawn != black || (lum == 0) != black {
				t.Fatalf("module %d,%d: got black %v in the SVG and %v in the PNG, want %v as in a code of %s", x, y, drawn, lum == 0, black, p["url"])
			}
		}
	}
}

// A body that once passed is still refused as a body of another type, and so are bodies that differ from it only
// slightly.
func TestPassedBodiesAreNoPass(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	at := request{method: "POST", path: "/device/v1/devices/dor_1/commands", token: "key_a"}
	for n := range 2 * mostFew { // more different bodies than are remembered
		at.key, at.body = fmt.Sprint("key-", n), fmt.Sprintf(`{"capability":"door","command":"open","args":{"reason":"%d"}}`, n%(mostFew+1))
		h.want(200, "", at)
	}
	at.key, at.body = "key-a", openBody
	h.want(200, "", at)
	for name, c := range map[string]struct{ body, kind, code string }{
		"said to be text":     {openBody, "text/plain", "invalid_body"},
		"in another charset":  {openBody, "application/json; charset=utf-16", "invalid_body"},
		"another command":     {strings.Replace(openBody, "open", "oper", 1), "application/json", "unsupported_command"},
		"cut":                 {openBody[:len(openBody)-1], "application/json", "invalid_body"},
		"with a text behind":  {openBody + "x", "application/json", "invalid_body"},
		"with a minute below": {strings.Replace(openBody, "}", `,"args":{"minutes":-1}}`, 1), "application/json", "invalid_field"},
	} {
		at.key, at.body, at.header = "key-b", c.body, map[string]string{"Content-Type": c.kind}
		if r := h.do(at); r.Code != 400 || r.code() != c.code {
			t.Errorf("%s: %d %s, want 400 %s", name, r.Code, r.code(), c.code)
		}
	}
}
