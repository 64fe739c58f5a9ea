package testbed

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/inbox"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/world"
)

// visitor is a client that sends exactly what it is told.
type visitor struct {
	t     *testing.T
	base  string
	key   string
	token string
}

func newVisitor(t *testing.T, tb *Testbed, place int) *visitor {
	return &visitor{t: t, base: tb.Ready.HTTP, key: *tb.Ready.Places[place].APIKey}
}

// send makes a request and returns the status and body.
func (p *visitor) send(method, path, key, body string) (int, string) {
	p.t.Helper()
	a := must.Get(client.Client{Base: p.base, Token: p.token}.Call(p.t.Context(), method, path, key, []byte(body)))(p.t)
	return a.Status, string(a.Body)
}

func (p *visitor) exchange(key string) int {
	p.t.Helper()
	p.token = ""
	status, body := p.send("POST", "/core/v1/auth/apikey/token", "", `{"key":"`+key+`"}`)
	var out struct{ Data struct{ AccessToken string } }
	_ = json.Unmarshal([]byte(body), &out)
	p.token = out.Data.AccessToken
	return status
}

func (p *visitor) open(door, key, reason string) int {
	p.t.Helper()
	status, _ := p.send("POST", "/device/v1/devices/"+door+"/commands", key, `{"capability":"door","command":"open","args":{"reason":"`+reason+`"}}`)
	return status
}

func (p *visitor) permit(ref, phone string, now time.Time) (status int, body string) {
	p.t.Helper()
	return p.send("POST", "/space/v1/partner/entry-permits", "", fmt.Sprintf(`{"externalRef":"%s","phone":"%s","name":"Ann","startsAt":"%s","endsAt":"%s"}`,
		ref, phone, now.Format(time.RFC3339), now.Add(time.Hour).Format(time.RFC3339)))
}

type entryShown struct {
	inbox.Entry
	Moved                []struct{ Action string }
	Curl, Step, Scenario string
}

func inboxOf(t *testing.T, tb *Testbed, query string) (out []entryShown) {
	t.Helper()
	clienttest.Do(t, tb.lab(), "GET", "/lab/v1/inbox?"+query, nil, &out)
	return out
}

func entryOf(t *testing.T, tb *Testbed, seq int64) (out entryShown) {
	t.Helper()
	clienttest.Do(t, tb.lab(), "GET", fmt.Sprintf("/lab/v1/inbox/%d", seq), nil, &out)
	return out
}

// TestInbox: what a partner sent, how it was answered, what moved, and no secrets.
func TestInbox(t *testing.T) {
	t.Parallel()
	tb := begin(t, Config{})
	place, door := tb.cfg.World.Places[0].ID, tb.cfg.World.Places[0].Boards[0].Doors[0].ID
	p := newVisitor(t, tb, 0)
	p.exchange(p.key)
	const phone = "01098761234"
	_, permit := p.permit("order-"+phone, phone, tb.clk.Now())
	p.open(door, "k1", "front desk")
	p.open(door, "k1", "front desk")
	p.open(door, "k2", "sim:refused:jammed")
	p.send("GET", "/device/v1/devices/"+door+"/commands", "", "")
	p.send("GET", "/device/v1/nothing", "", "")

	list := inboxOf(t, tb, "placeId="+place)
	var got []string
	for _, e := range list {
		moved := ""
		for _, m := range e.Moved {
			moved += " " + m.Action
		}
		replay := ""
		if e.Replayed {
			replay = " replayed"
		}
		got = append(got, fmt.Sprintf("%s %s %d%s%s", e.Method, e.Route, e.Status, replay, moved))
	}
	want := []string{
		"GET other 404",
		"GET /device/v1/devices/{id}/commands 405",
		"POST /device/v1/devices/{id}/commands 502",
		"POST /device/v1/devices/{id}/commands 200 replayed",
		"POST /device/v1/devices/{id}/commands 200 pulse",
		"POST /space/v1/partner/entry-permits 200",
		"POST /core/v1/auth/apikey/token 200",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	var answer struct{ Data struct{ EntryToken string } }
	if err := json.Unmarshal([]byte(permit), &answer); err != nil || answer.Data.EntryToken == "" {
		t.Fatalf("no entry token in %s", permit)
	}
	for _, e := range list {
		full := entryOf(t, tb, e.Seq)
		raw := must.Get(json.Marshal(full))(t)
		for what, secret := range map[string]string{"phone": phone, "key": p.key, "token": p.token, "entry token": answer.Data.EntryToken} {
			if bytes.Contains(raw, []byte(secret)) {
				t.Errorf("%s %s shows the %s in full: %s", e.Method, e.Route, what, raw)
			}
		}
		if e.Request != "" || e.Answer != "" || full.Answer == "" && full.Status != 405 {
			t.Errorf("%s %s: the list has no bodies, the entry has: list %q %q, entry %q", e.Method, e.Route, e.Request, e.Answer, full.Answer)
		}
	}
	for query, n := range map[string]int{"&status=4xx": 2, "&status=502,405": 2, "&key=k1": 2, "&path=entry-permits": 1, "&limit=3": 3, "&status=504": 0} {
		if l := inboxOf(t, tb, "placeId="+place+query); len(l) != n {
			t.Errorf("%s: got %d requests, want %d", query, len(l), n)
		}
	}
	var removed struct{ Removed int }
	if err := tb.lab().Do(t.Context(), "DELETE", "/lab/v1/inbox?placeId="+place, nil, &removed); err != nil || removed.Removed != len(want) {
		t.Errorf("cleared %d, %v; want %d", removed.Removed, err, len(want))
	}
	for query, code := range map[string]string{"inbox": "missing_field", "inbox?placeId=plc_x": "place_not_found", "inbox?placeId=" + place + "&status=lunch": "invalid_query",
		"inbox/1": "not_found", "inbox/x": `no request "x" in the inbox`, "inbox?key=&placeId=" + place: "invalid_query", "go-live?placeId=" + tb.cfg.World.Places[1].ID: "rule_violated", "go-live": "missing_field"} {
		if err := tb.lab().Do(t.Context(), "GET", "/lab/v1/"+query, nil, nil); err == nil || !strings.Contains(err.Error(), code) {
			t.Errorf("%s: got %v, want %s", query, err, code)
		}
	}
}

// TestInboxOfStrangers: requests without a valid token belong to no place; a failed exchange belongs to the place
// whose key was last used from that address.
func TestInboxOfStrangers(t *testing.T) {
	t.Parallel()
	tb := begin(t, Config{Virtual: true})
	place := tb.cfg.World.Places[0].ID
	p := newVisitor(t, tb, 0)
	p.exchange("sact_nonsense") // doesn't belong to a place yet
	p.send("GET", "/device/v1/devices", "", "")
	p.token = "nonsense"
	p.send("GET", "/device/v1/devices", "", "")
	if list := inboxOf(t, tb, "placeId="+place); len(list) != 0 {
		t.Errorf("strangers: got %d requests, want none", len(list))
	}
	p.exchange(p.key)
	token := p.token
	p.exchange("sact_nonsense")
	p.token = token
	clienttest.Do(t, tb.lab(), "POST", "/lab/v1/clock/advance", map[string]string{"by": "15m"}, nil)
	p.send("GET", "/device/v1/devices", "", "")
	var got []string
	for _, e := range inboxOf(t, tb, "placeId="+place) {
		got = append(got, fmt.Sprint(e.Status, " ", e.Code))
	}
	if want := "401 token_expired, 401 invalid_api_key, 200 "; strings.Join(got, ", ") != want {
		t.Errorf("got %q, want %q", strings.Join(got, ", "), want)
	}
}

// TestInboxTimes: a request has the time at which it came beside the time at which it was answered, and so does its
// replay.
func TestInboxTimes(t *testing.T) {
	t.Parallel()
	tb := begin(t, Config{})
	place, door := tb.cfg.World.Places[0].ID, tb.cfg.World.Places[0].Boards[0].Doors[0].ID
	p := newVisitor(t, tb, 0)
	p.exchange(p.key)
	before := tb.clk.Now()
	p.open(door, "k1", "sim:delay:700")
	between := tb.clk.Now()
	p.open(door, "k1", "sim:delay:700")
	list := inboxOf(t, tb, "placeId="+place+"&path=commands")
	if len(list) != 2 || list[1].Came.Before(before.Truncate(time.Millisecond)) || list[1].At.Sub(list[1].Came) < 700*time.Millisecond || list[0].Came.Before(between.Truncate(time.Millisecond)) || !list[0].Replayed {
		t.Errorf("sent at %v, again at %v: got %+v, want the times at which they came, 700 ms before the first was answered", before, between, list)
	}
}

// TestInboxOfLivePlaces: live places are recorded only in a lab.
func TestInboxOfLivePlaces(t *testing.T) {
	t.Parallel()
	for control, want := range map[string]int{"127.0.0.1:0": 1, "": 0} {
		tb := must.Get(Start(t.Context(), Config{World: world.Default(3, 10), DataDir: t.TempDir(), Fleet: true, Control: control}))(t)
		t.Cleanup(func() { _ = tb.Stop() })
		for place, n := range map[int]int{0: 1, 1: want} {
			newVisitor(t, tb, place).exchange(*tb.Ready.Places[place].APIKey)
			if list, _ := tb.inbox.List(tb.Ready.Places[place].PlaceID, inbox.Filter{}); len(list) != n {
				t.Errorf("control %q, a %s place: got %d requests, want %d", control, tb.Ready.Places[place].Kind, len(list), n)
			}
		}
	}
}

// TestCopyAsCurl: the curl line works in a shell and makes the same request.
func TestCopyAsCurl(t *testing.T) {
	t.Parallel()
	must.Have(t, "curl", "curl")
	tb := begin(t, Config{})
	door := tb.cfg.World.Places[0].Boards[0].Doors[0].ID
	p := newVisitor(t, tb, 0)
	p.exchange(p.key)
	const phone = "01098761234"
	_, permit := p.permit("it's $HOME", phone, tb.clk.Now())
	p.open(door, "it's-'k'", "front desk")
	var answer struct{ Data struct{ EntryToken string } }
	must.OK(t, json.Unmarshal([]byte(permit), &answer))
	customer := &visitor{t: t, base: p.base}
	customer.send("POST", "/entry/open", "", `{"t":"`+answer.Data.EntryToken+`","doorId":"`+door+`"}`)
	customer.send("GET", "/entry?t="+answer.Data.EntryToken, "", "")
	p.send("GET", "/device/v1/devices", "", `{"of":"a GET with a body"}`)
	p.send("HEAD", "/device/v1/devices", "", "")
	token := p.token
	for _, e := range inboxOf(t, tb, "placeId="+tb.cfg.World.Places[0].ID) {
		cmd := exec.CommandContext(t.Context(), "bash", "-eu", "-c", entryOf(t, tb, e.Seq).Curl)
		cmd.Env = append(cmd.Environ(), "TOKEN="+token, "KEY="+p.key, "PHONE="+phone, "ENTRY_TOKEN="+answer.Data.EntryToken)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s %s: got %v, want the line to work\n%s", e.Method, e.Route, err, out)
		}
		if e.Route == "/space/v1/partner/entry-permits" && string(out) != permit {
			t.Errorf("the same permit again: got %s, want %s", out, permit)
		}
		if e.Method == "HEAD" && !strings.HasPrefix(string(out), "HTTP/1.1 200") {
			t.Errorf("HEAD %s: got %s, want 200", e.Route, out)
		} else if !strings.HasPrefix(string(out), `{"success":true`) && e.Route != "/entry" && e.Method != "HEAD" {
			t.Errorf("%s %s: got %s, want a success", e.Method, e.Route, out)
		}
	}
	if list := inboxOf(t, tb, "key=it's-'k'&placeId="+tb.cfg.World.Places[0].ID); len(list) != 2 || !list[0].Replayed {
		t.Errorf("the command by curl: got %+v, want a replay", list)
	}
}

// TestGoLive: a client that does everything right is ready; a single mistake makes it not ready.
func TestGoLive(t *testing.T) {
	t.Parallel()
	tb := begin(t, Config{Virtual: true})
	door := tb.cfg.World.Places[0].Boards[0].Doors[0].ID
	advance := func(by string) {
		t.Helper()
		clienttest.Do(t, tb.lab(), "POST", "/lab/v1/clock/advance", map[string]string{"by": by}, nil)
	}
	check := func() (l struct {
		Ready  bool
		Points []struct {
			ID, State, Says string
			Requests        []string
		}
	}) {
		t.Helper()
		clienttest.Do(t, tb.lab(), "GET", "/lab/v1/go-live?placeId="+tb.cfg.World.Places[0].ID, nil, &l)
		return l
	}
	if l := check(); l.Ready || len(l.Points) != 8 {
		t.Errorf("before the first request: got %+v, want eight points and not ready", l)
	}
	p := newVisitor(t, tb, 0)
	p.exchange(p.key)
	p.permit("a", "01011112222", tb.clk.Now())
	p.send("GET", "/device/v1/devices/dor_nope", "", "")
	p.open(door, "k1", "")
	p.open(door, "k2", "sim:noResponse")
	p.open(door, "k2", "sim:noResponse")
	p.open(door, "k3", "sim:offline")
	p.open(door, "k4", "")
	advance("15m")
	p.open(door, "k5", "")
	for i := range 30 {
		(&visitor{t: t, base: p.base}).exchange(fmt.Sprint("sact_made_up_", i))
	}
	if status := p.exchange(p.key); status != 429 {
		t.Errorf("the 31st exchange: got %d, want 429", status)
	}
	advance("61s")
	p.exchange(p.key)
	if l := check(); !l.Ready {
		t.Errorf("a client that does everything right: got %+v, want Ready true", l)
	}
	p.send("POST", "/space/v1/partner/entry-permits", "", `{"externalRef":"b","phone":"01011112222","startsAt":"2026-10-05T00:00:00Z","endsAt":"2026-10-06T00:00:00Z","doorIds":[]}`)
	l := check()
	if l.Ready {
		t.Error("ready after an empty array of doors")
	}
	for _, pt := range l.Points {
		if (pt.State == "broken") != (pt.ID == "door_ids") || len(pt.Requests) == 0 {
			t.Errorf("%s: got %s by %v, want broken only for door_ids, and requests that show it", pt.ID, pt.State, pt.Requests)
		}
	}
}
