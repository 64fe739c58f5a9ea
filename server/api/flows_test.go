package api

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/server/api/openapi"
	"github.com/doorlab/doorlab/server/auth"
	"github.com/doorlab/doorlab/server/board"
	"github.com/doorlab/doorlab/server/place"
)

const permits = "/space/v1/partner/entry-permits"

func (h *house) permit(body string) response {
	h.t.Helper()
	return h.want(200, "", request{method: "POST", path: permits, token: "key_a", body: body})
}

func TestPermits(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	first, again := h.permit(permitBody), h.permit(permitBody)
	if first.Body.String() != again.Body.String() { // [PERM-2]
		t.Errorf("the repeat: got %s\nwant %s", again.Body, first.Body)
	}
	id, url := first.data()["permitId"].(string), first.data()["url"].(string)
	if url != "https://entry.example/entry?t="+first.data()["entryToken"].(string) {
		t.Errorf("got the link %s, want one with the token %v", url, first.data()["entryToken"])
	}
	get := request{method: "GET", path: permits + "/" + id, token: "key_p"}
	d := h.want(200, "", get).data()
	if d["state"] != "active" || d["phoneTail"] != "5678" || d["startsAt"] != "2026-11-01T00:00:00.000Z" || d["firstUsedAt"] != nil || d["useCount"] != 0.0 {
		t.Errorf("permit %v, want it active from 2026-11-01 for ...5678, not used", d)
	}
	if ids := d["doorIds"].([]any); len(ids) != 1 || ids[0] != "dor_1" { // defaults to the entry doors [PERM-6]
		t.Errorf("doors %v, want the one entry door dor_1", ids)
	}
	l := h.want(200, "", request{method: "GET", path: permits + "?externalRef=m-1&limit=1", token: "key_a"})
	if l.json["total"] != 1.0 {
		t.Errorf("got %s, want one permit", l.Body)
	}
	if l := h.want(200, "", request{method: "GET", path: permits + "?externalRef=none", token: "key_a"}); l.json["total"] != 0.0 || l.json["data"] == nil {
		t.Errorf("got %s, want an empty list", l.Body)
	}
	for _, tt := range []struct {
		status     int
		code, body string
	}{
		{400, "invalid_period", strings.Replace(permitBody, "2026-11-02", "2026-11-01", 1)},
		{409, "permit_period_too_long", strings.Replace(permitBody, "2026-11-02T00:00:00", "2026-12-01T00:00:01", 1)},
		{200, "", strings.Replace(strings.Replace(permitBody, "m-1", "m-2", 1), "2026-11-02", "2026-12-01", 1)},
		{400, "invalid_door_ids", strings.Replace(permitBody, "{", `{"doorIds":["dor_1","dor_b"],`, 1)},
		{400, "invalid_door_ids", strings.Replace(permitBody, "{", `{"doorIds":[1],`, 1)},
		{400, "invalid_door_ids", strings.Replace(permitBody, "{", `{"doorIds":{},`, 1)},
		{400, "empty_door_ids", strings.Replace(permitBody, "{", `{"doorIds":[],`, 1)},
	} {
		r := h.want(tt.status, tt.code, request{method: "POST", path: permits, token: "key_a", body: tt.body})
		if tt.code == "invalid_door_ids" && r.details()["invalid"] == nil {
			t.Errorf("got %s, want details.invalid", r.Body)
		}
	}
	revoke := permits + "/revoke"
	h.want(404, "permit_not_found", request{method: "POST", path: revoke, token: "key_a", body: `{"externalRef":"none"}`})
	h.want(404, "permit_not_found", request{method: "POST", path: revoke, token: "key_b", body: `{"permitId":"` + id + `"}`})
	r1 := h.want(200, "", request{method: "POST", path: revoke, token: "key_a", body: `{"externalRef":"m-1","permitId":"` + id + `","reason":"x"}`})
	r2 := h.want(200, "", request{method: "POST", path: revoke, token: "key_a", body: `{"permitId":"` + id + `","reason":"y"}`})
	if r1.Body.String() != r2.Body.String() || r1.data()["state"] != "revoked" || r1.data()["reason"] != "x" {
		t.Errorf("revoked twice: got %s\nwant %s, revoked for x", r2.Body, r1.Body)
	}
	h.want(404, "link_invalid", request{method: "POST", path: "/entry/open", body: `{"t":"` + first.data()["entryToken"].(string) + `","doorId":"dor_1"}`}) // [PERM-4]
	if back := h.permit(permitBody).data(); back["permitId"] != id || back["url"] == url {                                                                  // [PERM-3]
		t.Errorf("registered again: %v, want %v with another link", back, id)
	}
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	patch := request{method: "PATCH", path: "/core/v1/places/plc_a", token: "key_p", body: `{"hours":{"week":{"sun":[["10:00","02:00"]],"wed":[]}}}`}
	r := h.want(200, "", patch)
	week := r.data()["hours"].(map[string]any)["week"].(map[string]any)
	if len(week) != 7 || len(week["mon"].([]any)) != 1 || len(week["sun"].([]any)) != 1 {
		t.Errorf("got %s, want seven days, one interval on Monday and on Sunday", r.Body)
	}
	for body, want := range map[string]string{`{"name":"x"}`: "place_field_forbidden", `{"hours":{"week":{"x":[]}},"timezone":"UTC"}`: "place_field_forbidden"} {
		patch.body = body
		h.want(403, want, patch)
	}
	for _, week := range []string{`{"x":[]}`, `{"mon":5}`, `{"mon":[["9:00","10:00"]]}`, `{"mon":[["09:00","09:00"]]}`, `{"mon":[["09:00","12:00"],["11:00","13:00"]]}`, `5`} {
		patch.body = `{"hours":{"week":` + week + `}}`
		h.want(400, "invalid_field", patch)
	}
	s := h.want(200, "", request{method: "GET", path: "/core/v1/public/places/plc_a/schedule?days=3"}) // [HRS-2]
	days := s.data()["days"].([]any)
	sun, tue := days[0].(map[string]any), days[2].(map[string]any)
	if len(days) != 3 || sun["weekday"] != "sun" || sun["intervals"].([]any)[0].(map[string]any)["endsAt"] != "2026-11-01T17:00:00.000Z" ||
		tue["note"].(map[string]any)["type"] != "closure" || tue["open"] != false {
		t.Errorf("schedule %s, want Monday open in part and Tuesday closed for a closure", s.Body)
	}
	h.want(400, "invalid_query", request{method: "GET", path: "/core/v1/public/places/plc_a/schedule?days=61"})
	none := ""
	must.Get(h.api.cfg.Places.PatchPlace("plc_b", place.PlacePatch{EntryPhone: &none}))(t)
	if r := h.want(200, "", request{method: "GET", path: "/space/v1/partner/gate-config", token: "key_b"}); strings.Contains(r.Body.String(), "entryPhone") {
		t.Errorf("got %s, want no entryPhone where none is assigned", r.Body)
	}
}

func TestDevices(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	d := h.want(200, "", request{method: "GET", path: "/device/v1/devices/dor_1", token: "key_d"}).data()
	if s := d["standing"].(map[string]any); d["kind"] != "door" || s["fresh"] != true || s["state"] != "locked" || s["reportedAt"] != epoch.UTC().Format("2006-01-02T15:04:05.000Z") {
		t.Errorf("device %v, want a door with a fresh standing, locked, reported at the start", d)
	}
	if r := h.want(200, "", request{method: "GET", path: "/device/v1/devices/dor_b", token: "key_b"}); r.data()["standing"] != nil || r.Header().Get("X-Place-Kind") != "live" {
		t.Errorf("got %s, X-Place-Kind %q, want no standing, of a live place", r.Body, r.Header().Get("X-Place-Kind"))
	}
	if r := h.want(200, "", request{method: "GET", path: "/device/v1/doors", token: "key_b"}); !strings.Contains(r.Body.String(), `"doorState":"locked","online":false`) {
		t.Errorf("got %s, want a door that nobody has heard of locked and offline", r.Body)
	}
	policies := "/device/v1/doors/dor_1/policies"
	set := func(body string) request { return request{method: "POST", path: policies, token: "key_a", body: body} }
	a := h.want(200, "", set(`{"window":{"ref":"always"},"mode":"free"}`))
	h.want(200, "", set(`{"window":{"ref":"custom","startsAt":"2026-11-01T00:00:00Z","endsAt":"2026-11-02T00:00:00Z"},"mode":"closed"}`))
	if a.data()["active"] != true {
		t.Errorf("got %s, want the policy active", a.Body)
	}
	for _, period := range []string{`"startsAt":"1970-01-01T00:00:00.000Z","endsAt":"1970-01-02T00:00:00.000Z"`, `"startsAt":"1969-12-31T23:59:59.999Z","endsAt":"1970-01-01T00:00:00.000Z"`} {
		p := h.want(200, "", set(`{"window":{"ref":"custom",`+period+`},"mode":"auth"}`)) // where 0 would be no time at all
		list := h.want(200, "", request{method: "GET", path: policies, token: "key_a"})
		if !strings.Contains(p.Body.String(), period) || !strings.Contains(list.Body.String(), period) {
			t.Errorf("got %s and %s, want both with %s", p.Body, list.Body, period)
		}
	}
	h.want(400, "invalid_period", set(`{"window":{"ref":"custom","startsAt":"1970-01-01T00:00:00Z","endsAt":"1970-01-01T00:00:00Z"},"mode":"auth"}`))
	if r := h.want(200, "", request{method: "DELETE", path: policies + "?ref=custom", token: "key_a"}); r.data()["deleted"] != 3.0 {
		t.Errorf("got %s, want three policies deleted", r.Body)
	}
	h.want(200, "", set(`{"window":{"ref":"custom","startsAt":"2026-11-01T00:00:00Z","endsAt":"2026-11-02T00:00:00Z"},"mode":"closed"}`))
	h.want(400, "invalid_field", set(`{"window":{"ref":"sometimes"},"mode":"free"}`))
	h.want(400, "invalid_timestamp", set(`{"window":{"ref":"custom","startsAt":"now","endsAt":"2026-11-02T00:00:00Z"},"mode":"closed"}`))
	if r := h.want(200, "", request{method: "GET", path: policies, token: "key_a"}); r.json["total"] != 2.0 {
		t.Errorf("got %s, want two policies", r.Body)
	}
	if r := h.want(200, "", request{method: "DELETE", path: policies + "?ref=always", token: "key_a"}); r.data()["deleted"] != 1.0 {
		t.Errorf("got %s, want one policy deleted", r.Body)
	}
	for query, why := range map[string]string{"?ref=x": "ref must be one of", "?policyid=pol_x": `did you mean \"policyId\"?`, "?Ref=always&x=1": "is not a known query parameter", "?ref=": "ref must be"} {
		if r := h.want(400, "invalid_query", request{method: "DELETE", path: policies + query, token: "key_a"}); !strings.Contains(r.Body.String(), why) {
			t.Errorf("%s: got %s, want %q in it", query, r.Body, why)
		}
	}
	if r := h.want(200, "", request{method: "DELETE", path: policies, token: "key_a"}); r.data()["deleted"] != 1.0 {
		t.Errorf("got %s, want the policy that was left", r.Body)
	}
}

func TestNetloss(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	get := request{method: "GET", path: "/device/v1/boards/brd_a/netloss", token: "key_a"}
	if d := h.want(200, "", get).data(); d["graceSec"] != 129600.0 || d["version"] != 0.0 || d["appliedAt"] != nil {
		t.Errorf("outage policy %v, want the default: 129600 s, version 0, never applied", d)
	}
	put := request{method: "PUT", path: get.path, token: "key_a", body: `{"graceSec":60,"channels":{"2":"hold"}}`}
	d := h.want(200, "", put).data()
	if ch := d["channels"].(map[string]any); ch["1"] != "close" || ch["2"] != "hold" || d["version"] != 1.0 || d["appliedAt"] == nil {
		t.Errorf("outage policy %v, want version 1 with channel 1 close and 2 hold", d)
	}
	for _, tt := range []struct {
		err    error
		status int
		code   string
	}{
		{board.ErrOffline, 503, "store_offline"}, {board.ErrLost, 502, "store_unreachable"}, {board.ErrNoAnswer, 504, "device_no_response"},
		{board.Refused("busy"), 502, "device_refused"},
	} {
		h.boards.setError = tt.err
		if r := h.want(tt.status, tt.code, put); tt.status == 503 && r.Header().Get("Retry-After") == "" {
			t.Errorf("headers %v, want Retry-After with 503", r.Header())
		}
	}
	for _, ch := range []string{`{"3":"open"}`, `{"01":"open"}`, `{"x":"open"}`, `{"1":"up"}`, `[]`} {
		put.body = `{"graceSec":60,"channels":` + ch + `}`
		h.want(400, "invalid_field", put)
	}
}

var (
	style   = regexp.MustCompile(`(?s)<style>(.*)</style>`)
	script  = regexp.MustCompile(`(?s)<script>(.*)</script>`)
	foreign = regexp.MustCompile(`(?i)(src|href|action)="(https?:|//)|<script [^>]|@import|url\(`)
)

func TestImports(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	q := request{method: "POST", path: "/space/v1/customers/import", token: "key_p",
		body: `{"source":"old","items":[{"externalRef":"c1","phone":"01011112222","name":"Kim"},{"phone":"x"},7,null,{"externalRef":"c2","phone":"01033334444"}],"Items":[]}`}
	if d := h.want(200, "", q).data(); d["received"] != 5.0 || d["created"] != 2.0 || d["failed"] != 3.0 {
		t.Errorf("import %v, want 5 received, 2 created, 3 failed", d)
	}
	if d := h.want(200, "", q).data(); d["created"] != 0.0 || d["unchanged"] != 2.0 { // [IMP-1]
		t.Errorf("the same file again: %v, want none created and 2 unchanged", d)
	}
	if r := h.want(200, "", request{method: "GET", path: "/space/v1/customers?limit=1", token: "key_p"}); r.json["total"] != 2.0 || strings.Contains(r.Body.String(), "01011112222") {
		t.Errorf("customers %s, want 2 in all and no whole phone", r.Body)
	}
	q.path, q.body = "/space/v1/memberships/import", `{"source":"old","items":[{"externalRef":"m","phone":"01011112222","startsAt":"2026-01-01T00:00:00Z"}]}`
	if d := h.want(200, "", q).data(); d["created"] != 1.0 {
		t.Errorf("import %v, want one created", d)
	}
	q.path, q.body = "/space/v1/customers/import", `{"source":"half","items":[{"phone":"01044445551","name":"\ud800"},{"phone":"01044445552"},{"externalRef":"\udfff","phone":"01044445553"}]}`
	if d := h.want(200, "", q).data(); d["created"] != 1.0 || d["failed"] != 2.0 {
		t.Errorf("import %v, want the two rows with half a character to fail alone", d)
	}
	q.path = "/space/v1/memberships/import"
	if r := h.want(200, "", request{method: "GET", path: "/space/v1/memberships", token: "key_p"}); r.json["total"] != 2.0 {
		t.Errorf("memberships %s, want 2 in all", r.Body)
	}
	for body, code := range map[string]string{`{"source":"","items":[1]}`: "invalid_field", `{"source":"s","items":[]}`: "invalid_field", `{"items":[1]}`: "missing_field",
		`{"source":"s","items":{}}`: "invalid_field", `{"source":"s","items":[` + strings.Repeat("1,", 5000) + `1]}`: "invalid_field"} {
		q.body = body
		h.want(400, code, q)
	}
	big := `{"source":"s","items":[{"phone":"01011112222","name":"` + strings.Repeat("x", 100<<10) + `"}]}` // over 64 KiB
	q.body = big
	if d := h.want(200, "", q).data(); d["failed"] != 1.0 {
		t.Errorf("import %v, want one failed", d)
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	q := request{method: "POST", path: "/core/v1/auth/apikey/token", body: `{"key":"sact_nonsense"}`, addr: "[2001:db8::1]:5"}
	a, b := h.want(401, "invalid_api_key", q), h.want(401, "invalid_api_key", q)
	if a.Body.String() != b.Body.String() {
		t.Error("different messages")
	}
	if c := a.Header().Get("WWW-Authenticate"); c != `ApiKey realm="store-access"` {
		t.Errorf("WWW-Authenticate %q, want a challenge, as in every 401, and not one for a token", c)
	}
	q.body = `{"key":5}`
	h.want(400, "invalid_field", q)
	q.body = "{"
	for range 27 {
		h.want(400, "invalid_body", q)
	}
	q.addr = "[2001:db8::ffff]:6" // the same /64 [AUTH-3]
	if r := h.want(429, "rate_limited", q); r.Header().Get("Retry-After") != "60" {
		t.Errorf("Retry-After %q, want 60", r.Header().Get("Retry-After"))
	}
	q.body, q.header = `{"key":"`+h.keys["key_a"]+`"}`, map[string]string{"X-Forwarded-For": "1.2.3.4"}
	h.want(429, "rate_limited", q)
	h.tick(time.Minute)
	h.want(200, "", q)
}

func TestRevokedKey(t *testing.T) {
	t.Parallel()
	var keys *auth.Service
	h := newHouse(t, func(c *Config) { keys = c.Keys.(*auth.Service) })
	must.OK(t, keys.Revoke("key_a"))
	h.want(401, "token_invalid", request{method: "GET", path: "/device/v1/devices", token: "key_a"}) // [AUTH-5]
	h.want(401, "invalid_api_key", request{method: "POST", path: "/core/v1/auth/apikey/token", body: `{"key":"` + h.keys["key_a"] + `"}`})
}

func TestStorageGone(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	must.OK(t, h.store.Close())
	r := h.want(503, "storage_unavailable", request{method: "POST", path: permits, token: "key_a", body: permitBody})
	if r.Header().Get("Retry-After") == "" {
		t.Errorf("headers %v, want Retry-After", r.Header())
	}
	h.want(503, "storage_unavailable", request{method: "GET", path: "/readyz"})
	h.want(200, "", request{method: "GET", path: "/livez"})
}

func TestDocsPages(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for _, name := range openapi.Names {
		r := h.want(200, "", request{method: "GET", path: "/" + name + "/v1/docs"})
		for _, m := range regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(r.Body.String(), -1) {
			if !strings.HasPrefix(m[1], "/") && !strings.HasPrefix(m[1], "#") && !strings.HasPrefix(m[1], "data:") {
				t.Errorf("%s links to another site: %s", name, m[1])
			}
		}
		r = h.want(200, "", request{method: "GET", path: "/" + name + "/v1/openapi.json"})
		servers, _ := r.json["servers"].([]any)
		if len(servers) != 1 || servers[0].(map[string]any)["url"] != "/" || r.json["openapi"] != "3.0.3" {
			t.Errorf("openapi %v with servers %v, want 3.0.3 with / alone", r.json["openapi"], servers)
		}
	}
}
