package api

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/server/api/openapi"
)

// row is a valid request for an operation, which the matrix corrupts.
type row struct {
	path    string // with an id from this place
	unknown string // with an id that doesn't exist; "" = no id
	foreign string // with an id from another place
	body    string
	key     bool
	status  int // of the valid request; 0 = 200
}

const permitBody = `{"externalRef":"m-1","phone":"01012345678","startsAt":"2026-11-01T00:00:00Z","endsAt":"2026-11-02T00:00:00Z"}`

// matrix has a row for every operation. PERMIT, TOKEN, RSV and the F.. variants of the other place are filled in.
var matrix = map[string]row{
	"exchangeKey": {path: "/core/v1/auth/apikey/token", body: `{"key":"APIKEY"}`},
	"updatePlace": {path: "/core/v1/places/plc_a", unknown: "/core/v1/places/plc_x", foreign: "/core/v1/places/plc_b", body: `{"hours":{"week":{"tue":[["10:00","24:00"]]}}}`},
	"getSchedule": {path: "/core/v1/public/places/plc_a/schedule", unknown: "/core/v1/public/places/plc_x/schedule"},
	"listEvents":  {path: "/core/v1/places/plc_a/events", unknown: "/core/v1/places/plc_x/events", foreign: "/core/v1/places/plc_b/events"},

	"createPermit":      {path: "/space/v1/partner/entry-permits", body: permitBody},
	"listPermits":       {path: "/space/v1/partner/entry-permits"},
	"revokePermit":      {path: "/space/v1/partner/entry-permits/revoke", body: `{"externalRef":"gone"}`},
	"getPermit":         {path: "/space/v1/partner/entry-permits/PERMIT", unknown: "/space/v1/partner/entry-permits/pmt_x", foreign: "/space/v1/partner/entry-permits/FPERMIT"},
	"listRecords":       {path: "/space/v1/partner/entry-logs"},
	"getGateConfig":     {path: "/space/v1/partner/gate-config"},
	"importCustomers":   {path: "/space/v1/customers/import", body: `{"source":"s","items":[{"phone":"01012345678"},5]}`},
	"importMemberships": {path: "/space/v1/memberships/import", body: `{"source":"s","items":[{"phone":"01012345678","startsAt":"2026-11-01T00:00:00Z"}]}`},
	"listMemberships":   {path: "/space/v1/memberships"},
	"listCustomers":     {path: "/space/v1/customers"},
	"listReservations":  {path: "/space/v1/reservations"},
	"createReservation": {path: "/space/v1/reservations", body: permitBody},
	"cancelReservation": {path: "/space/v1/reservations/RSV/cancel", unknown: "/space/v1/reservations/rsv_x/cancel", foreign: "/space/v1/reservations/FRSV/cancel"},

	"entryPage":  {path: "/entry?t=TOKEN"},
	"entryQRSVG": {path: "/entry/qr.svg?t=TOKEN"},
	"entryQRPNG": {path: "/entry/qr.png?t=TOKEN"},
	"entryOpen":  {path: "/entry/open", body: `{"t":"TOKEN","doorId":"dor_1"}`},

	"listDevices":    {path: "/device/v1/devices"},
	"getDevice":      {path: "/device/v1/devices/dor_1", unknown: "/device/v1/devices/dor_x", foreign: "/device/v1/devices/dor_b"},
	"commandDevice":  {path: "/device/v1/devices/dor_1/commands", unknown: "/device/v1/devices/dor_x/commands", foreign: "/device/v1/devices/dor_b/commands", body: `{"capability":"door","command":"open"}`, key: true},
	"listDoors":      {path: "/device/v1/doors"},
	"openDoor":       {path: "/device/v1/doors/dor_1/open", unknown: "/device/v1/doors/dor_x/open", foreign: "/device/v1/doors/dor_b/open", key: true},
	"closeDoor":      {path: "/device/v1/doors/dor_1/close", unknown: "/device/v1/doors/dor_x/close", foreign: "/device/v1/doors/dor_b/close", key: true},
	"holdDoor":       {path: "/device/v1/doors/dor_1/hold", unknown: "/device/v1/doors/dor_x/hold", foreign: "/device/v1/doors/dor_b/hold", body: `{"minutes":5}`, key: true},
	"listPolicies":   {path: "/device/v1/doors/dor_1/policies", unknown: "/device/v1/doors/dor_x/policies", foreign: "/device/v1/doors/dor_b/policies"},
	"setPolicy":      {path: "/device/v1/doors/dor_1/policies", unknown: "/device/v1/doors/dor_x/policies", foreign: "/device/v1/doors/dor_b/policies", body: `{"window":{"ref":"custom","week":{"mon":[["09:00","10:00"]]}},"mode":"auth"}`},
	"deletePolicies": {path: "/device/v1/doors/dor_1/policies", unknown: "/device/v1/doors/dor_x/policies", foreign: "/device/v1/doors/dor_b/policies"},
	"listBoards":     {path: "/device/v1/boards"},
	"getNetloss":     {path: "/device/v1/boards/brd_a/netloss", unknown: "/device/v1/boards/brd_x/netloss", foreign: "/device/v1/boards/brd_b/netloss"},
	"setNetloss":     {path: "/device/v1/boards/brd_a/netloss", unknown: "/device/v1/boards/brd_x/netloss", foreign: "/device/v1/boards/brd_b/netloss", body: `{"graceSec":60,"channels":{"2":"hold"}}`},

	"livez": {path: "/livez"}, "readyz": {path: "/readyz"}, "version": {path: "/version"},
	"coreDocument": {path: "/core/v1/openapi.json"}, "spaceDocument": {path: "/space/v1/openapi.json"}, "deviceDocument": {path: "/device/v1/openapi.json"},
	"coreDocs": {path: "/core/v1/docs"}, "spaceDocs": {path: "/space/v1/docs"}, "deviceDocs": {path: "/device/v1/docs"},
}

// TestMatrix corrupts a valid request for every route in every way.
func TestMatrix(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	old := h.tokens["key_a"]
	must.OK(t, h.clk.Advance(epoch.Add(900*time.Second)))
	for id := range h.tokens {
		h.tokens[id] = h.exchange(id)
	}
	fill := h.fixtures()
	n := 0
	for _, d := range h.api.docs {
		for _, op := range d.Ops {
			r, ok := matrix[op.ID]
			if !ok {
				t.Errorf("%s has no row in the matrix", op.ID)
				continue
			}
			n++
			for _, s := range []*string{&r.path, &r.unknown, &r.foreign, &r.body} {
				*s = fill.Replace(*s)
			}
			bend(h, op, r, old)
		}
	}
	if n != len(matrix) {
		t.Errorf("%d operations and %d rows, want one for each", n, len(matrix))
	}
}

// fixtures creates what the rows refer to.
func (h *house) fixtures() *strings.Replacer {
	pairs := []string{"APIKEY", h.keys["key_a"]}
	for _, x := range []struct{ prefix, key string }{{"F", "key_b"}, {"", "key_a"}} {
		p := h.want(200, "", request{method: "POST", path: "/space/v1/partner/entry-permits", token: x.key, body: permitBody}).data()
		r := h.want(200, "", request{method: "POST", path: "/space/v1/reservations", token: x.key, body: permitBody}).data()
		pairs = append(pairs, x.prefix+"PERMIT", p["permitId"].(string), x.prefix+"RSV", r["reservationId"].(string), x.prefix+"TOKEN", p["entryToken"].(string))
	}
	h.want(200, "", request{method: "POST", path: "/space/v1/partner/entry-permits", token: "key_a", body: strings.Replace(permitBody, "m-1", "gone", 1)})
	return strings.NewReplacer(pairs...)
}

func bend(h *house, op *openapi.Operation, r row, old string) {
	q := request{method: op.Method, path: r.path, body: r.body}
	if r.key {
		q.key = "key-" + op.ID
	}
	bodies(h, op, q)
	if op.Scope == "none" {
		bendPublic(h, op, r, q)
	} else {
		bendTokens(h, op, r, q, old)
		q.token = "key_a"
	}
	h.want(405, "method_not_allowed", request{method: other(h.api, op), path: r.path, auth: "Bearer x", body: "{"})
	if got := h.do(request{method: other(h.api, op), path: r.path}).Header().Get("Allow"); !strings.Contains(got, op.Method) {
		h.t.Errorf("%s: Allow %q, want %q in it", op.ID, got, op.Method)
	}
	if r.key {
		none := q
		none.key = ""
		h.want(400, "idempotency_key_required", none)
		none.key = strings.Repeat("k", 256)
		h.want(400, "idempotency_key_invalid", none)
		none.key = "two words"
		h.want(400, "idempotency_key_invalid", none)
	}
	queries(h, op, q)
	res := h.want(max(r.status, 200), "", q)
	if op.Legacy && (res.Header().Get("Deprecation") == "" || !strings.Contains(res.Header().Get("Link"), "successor-version")) {
		h.t.Errorf("%s: got %v, want Deprecation and a successor-version", op.ID, res.Header())
	}
	if op.Method == "GET" {
		q.method = "HEAD"
		if res := h.do(q); res.Code != 200 || res.Body.Len() > 0 {
			h.t.Errorf("HEAD %s: got %d, %d bytes, want 200 and 0", op.ID, res.Code, res.Body.Len())
		}
	}
}

func bendPublic(h *house, op *openapi.Operation, r row, q request) {
	if r.unknown != "" {
		q.path = r.unknown
		h.want(404, openapi.Absent[op.Resource], q)
	}
}

func bendTokens(h *house, op *openapi.Operation, r row, q request, old string) {
	none := q
	none.path, none.body, none.key = orElse(r.unknown, r.path), "{", "" // the token is checked before everything else
	if res := h.want(401, "token_missing", none); res.Header().Get("WWW-Authenticate") != `Bearer realm="store-access"` {
		h.t.Errorf("%s: got %v, want the plain WWW-Authenticate", op.ID, res.Header())
	}
	for auth, code := range map[string]string{"Basic eDp5": "token_missing", "Bearer": "token_invalid", "Bearer a.b.c": "token_invalid",
		"Bearer " + old: "token_expired", "bearer " + h.tokens["key_a"] + "x": "token_invalid", "Bearer " + forge(h.tokens["key_a"]): "token_invalid"} {
		none.auth = auth
		if res := h.want(401, code, none); code != "token_missing" && !strings.Contains(res.Header().Get("WWW-Authenticate"), `error="invalid_token"`) {
			h.t.Errorf("%s: got %v, want invalid_token in WWW-Authenticate", op.ID, res.Header())
		}
	}
	none.auth = ""
	if wrong := map[string]string{"space:partner": "key_d", "device:door": "key_p"}[op.Scope]; wrong != "" {
		none.token = wrong
		h.want(403, "scope_missing", none)
	}
	status, code := 404, openapi.Absent[op.Resource]
	if op.Resource == "place" {
		status = 403
	}
	if r.unknown == "" {
		return
	}
	none.token = "key_a"
	for _, path := range []string{r.unknown, r.foreign} { // the resource is checked before the body
		none.path = path
		if res := h.want(status, code, none); res.Header().Get("X-Place-Kind") != "test" {
			h.t.Errorf("%s: got %v, want X-Place-Kind: test", op.ID, res.Header())
		}
	}
	none.path, none.token = r.path, "key_b"
	h.want(status, code, none)
}

// bodies sends malformed bodies.
func bodies(h *house, op *openapi.Operation, q request) {
	if op.Body == nil {
		return
	}
	if op.Scope != "none" {
		q.token = "key_a"
	}
	bad := []string{"{", "[]", "null", `"x"`, "5", `{"a":1}x`, "{}{}", "\xff", "{\"a\":\"\xff\"}"}
	if op.Body.Required {
		bad = append(bad, "", " ")
	}
	for _, b := range bad {
		q.body = b
		h.want(400, "invalid_body", q)
	}
	q.body = `{"x":"` + strings.Repeat("a", int(op.Body.Max)) + `"}`
	h.want(400, "body_too_large", q)
	q.body, q.header = "a=b", map[string]string{"Content-Type": "text/plain"}
	h.want(400, "invalid_body", q)
	q.body, q.header = "{}", map[string]string{"Content-Type": "application/json; charset=euc-kr"}
	h.want(400, "invalid_body", q)
	if op.Body.Required && op.ID != "updatePlace" {
		q.body, q.header = "{}", nil
		h.want(400, "missing_field", q)
	}
}

func queries(h *house, op *openapi.Operation, q request) {
	for _, p := range op.Params {
		if p.In != "query" || !p.Integer() {
			continue
		}
		path := q.path
		for _, v := range []string{"", "x", "1.5", "+1", "-1", "99999999999999999999", "1%zz", "1&" + p.Name + "=1"} {
			q.path = path + "?" + p.Name + "=" + v
			h.want(400, "invalid_query", q)
		}
		q.path = path
	}
}

// other is a method that the path doesn't support.
func other(a *api, op *openapi.Operation) string {
	var have []string
	for _, d := range a.docs {
		for _, o := range d.Ops {
			if o.Path == op.Path {
				have = append(have, o.Method)
			}
		}
	}
	for _, m := range []string{"PUT", "POST", "DELETE"} {
		if !slices.Contains(have, m) {
			return m
		}
	}
	return "PATCH"
}

func orElse(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// forge changes a token's content but keeps its signature.
func forge(token string) string {
	parts := strings.Split(token, ".")
	b := []byte(parts[1])
	b[len(b)/2] ^= 1
	return parts[0] + "." + string(b) + "." + parts[2]
}

// A path that matches two patterns allows the methods of both, always in the same order.
func TestAllow(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for path, want := range map[string]string{
		"/space/v1/partner/entry-permits/revoke": "GET, HEAD, POST",
		"/space/v1/partner/entry-permits/pmt_x":  "GET, HEAD",
		"/space/v1/partner/entry-permits":        "GET, HEAD, POST",
		"/device/v1/doors/dor_1/policies":        "GET, HEAD, POST, DELETE",
		"/device/v1/doors/dor%2F1/policies":      "GET, HEAD, POST, DELETE",
	} {
		for range 20 {
			if got := h.want(405, "method_not_allowed", request{method: "PATCH", path: path}).Header().Get("Allow"); got != want {
				t.Fatalf("%s: Allow %q, want %q", path, got, want)
			}
		}
	}
}

// TestEncodedPaths: a letter, digit or one of -._~ means the same whether it is percent-encoded or not, in the fixed parts
// of a path and in its ids; an encoded slash is part of an id.
func TestEncodedPaths(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for _, tt := range []struct {
		method, path string
		status       int
		code         string
	}{
		{"GET", "/device/v1/de%76ices", 200, ""},
		{"GET", "/%64evice/v1/%64%65%76%69%63%65%73/dor%5F1", 200, ""},
		{"GET", "/device/v1/devices%2Fdor_1", 404, "not_found"},
		{"GET", "/device/v1/de%2576ices", 404, "not_found"},
		{"GET", "/device/v1/devices/dor%2F1", 404, "device_not_found"},
		{"PATCH", "/device/v1/d%6F%6Frs/dor_1/policies", 405, "method_not_allowed"},
		{"GET", "/space/v1/access/p%65ople", 404, "endpoint_removed"},
	} {
		h.want(tt.status, tt.code, request{method: tt.method, path: tt.path, token: "key_a"})
	}
}

func TestUnknownAndRemoved(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for _, path := range []string{"/core/v1", "/nothing", "/space/v1/partner/entry-permits/", "/space/v1/partner/entry-permits/a/b", "/device/v2/devices", "/core/v1/places/plc_a/none", "/favicon.ico"} {
		h.want(404, "not_found", request{method: "GET", path: path})
	}
	for _, path := range []string{"/space/v1/doors/dor_1/access-config", "/space/v1/access/people", "/space/v1/access/groups"} {
		for _, m := range []string{"GET", "PUT", "POST"} {
			h.want(404, "endpoint_removed", request{method: m, path: path})
		}
	}
	r := h.want(404, "not_found", request{method: "GET", path: "/device/v1/doors/dor_1/nothing"})
	if r.json["reason"] != "not_found" || r.json["detail"] == nil {
		t.Errorf("legacy failure: got %s, want the reason not_found and a detail", r.Body)
	}
}
