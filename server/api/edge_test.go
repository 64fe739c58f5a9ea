package api

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/server/api/gen/core"
	"github.com/doorlab/doorlab/server/api/gen/device"
	"github.com/doorlab/doorlab/server/api/gen/space"
	"github.com/doorlab/doorlab/server/api/openapi"
	"github.com/doorlab/doorlab/server/command"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/place"
)

var quietLog = slog.New(slog.DiscardHandler)

func renderAnswer(r command.Result) answer {
	status, body := render(r, false)
	return answer{status: status, kind: typeJSON, body: body}
}

type panics struct{ Directory }

func (panics) Doors(string) ([]place.Door, error) { panic("no doors") }

// A panic becomes a 500 in the envelope and leaks nothing.
func TestPanic(t *testing.T) {
	t.Parallel()
	var seen Observation
	h := newHouse(t, func(c *Config) {
		c.Directory = panics{c.Directory}
		c.Observe = func(o Observation) { seen = o }
	})
	r := h.want(500, "internal_error", request{method: "GET", path: "/device/v1/devices", token: "key_a"})
	if strings.Contains(r.Body.String(), "no doors") || !strings.Contains(h.log.String(), "no doors") {
		t.Errorf("got %s, want the cause in the log only", r.Body)
	}
	if seen.Route != "/device/v1/devices" || seen.Status != 500 || seen.Code != "internal_error" {
		t.Errorf(`got %+v, want seen.Route = "/device/v1/devices", seen.Status = 500, seen.Code = "internal_error"`, seen)
	}
}

func TestAddress(t *testing.T) {
	t.Parallel()
	a := &api{cfg: Config{Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}}
	for _, tt := range []struct{ remote, forwarded, want string }{
		{"1.1.1.1:5", "2.2.2.2", "1.1.1.1:5"},
		{"10.0.0.1:5", "", "10.0.0.1:5"},
		{"10.0.0.1:5", "9.9.9.9, 2.2.2.2", "2.2.2.2"},
		{"10.0.0.1:5", "2.2.2.2, 10.0.0.2", "2.2.2.2"},
		{"10.0.0.1:5", "2.2.2.2, nonsense", "10.0.0.1:5"},
		{"10.0.0.1:5", "9.9.9.9, 2.2.2.2:4711, 10.0.0.2:80", "2.2.2.2:4711"},
		{"10.0.0.1:5", "[2001:db8::1]:4711", "[2001:db8::1]:4711"},
		{"10.0.0.1:5", "9.9.9.9, [2001:db8::1], 10.0.0.2", "[2001:db8::1]"},
		{"10.0.0.1:5", "9.9.9.9, 2.2.2.2, ,", "2.2.2.2"},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = tt.remote
		if tt.forwarded != "" {
			r.Header.Set("X-Forwarded-For", tt.forwarded)
		}
		if got := (&call{api: a, r: r}).address(); got != tt.want {
			t.Errorf("got %s, want %+v", got, tt)
		}
	}
}

func TestRequestID(t *testing.T) {
	t.Parallel()
	for given, kept := range map[string]bool{"abcdef-0123.4_5": true, "short": false, "a b c d e f g": false, strings.Repeat("a", 65): false, "": false} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("X-Request-Id", given)
		if got := requestID(r); (got == given) != kept || len(got) < 8 {
			t.Errorf("%q became %q, want it kept: %v", given, got, kept)
		}
	}
}

// No body crashes the edge, and refusals fit on one line.
func FuzzBody(f *testing.F) {
	docs := must.Get(openapi.Load())(f)
	for _, r := range matrix {
		f.Add([]byte(r.body), typeJSON)
	}
	f.Add([]byte("t=a&doorId=b"), "application/x-www-form-urlencoded")
	f.Add([]byte(`{"hours":{"week":{"mon":[["09:00",null]]}}}`), "application/json; charset=utf-8")
	f.Fuzz(func(t *testing.T, raw []byte, kind string) {
		for _, d := range docs {
			for _, op := range d.Ops {
				if op.Body == nil {
					continue
				}
				var v any
				err := op.Body.Decode(raw, kind, &v)
				if again := op.Body.Decode(raw, kind, &v); fmt.Sprint(again) != fmt.Sprint(err) {
					t.Fatalf("%s: got %v, then %v for the same body, want the same", op.ID, err, again)
				}
				if code := fail.CodeOf(err); err != nil && fail.Status(code)/100 != 4 {
					t.Fatalf("%s: got %v, want a 4xx", op.ID, err)
				}
				decodeInto(t, op, raw, kind, err)
			}
		}
	})
}

// decodeInto: a body that passes the check fits its handler's type.
func decodeInto(t *testing.T, op *openapi.Operation, raw []byte, kind string, flaw error) {
	into := map[string]any{
		"exchangeKey": new(core.ExchangeKeyBody), "updatePlace": new(core.UpdatePlaceBody),
		"createPermit": new(space.CreatePermitBody), "revokePermit": new(space.RevokePermitBody), "createReservation": new(space.CreateReservationBody),
		"importCustomers": new(space.Import), "importMemberships": new(space.Import), "entryOpen": new(space.EntryOpen),
		"commandDevice": new(device.CommandDeviceBody), "openDoor": new(device.HoldDoorBody), "closeDoor": new(device.HoldDoorBody),
		"holdDoor": new(device.HoldDoorBody), "setPolicy": new(device.SetPolicyBody), "setNetloss": new(device.SetNetlossBody),
	}
	if into[op.ID] == nil {
		t.Fatalf("%s has no type, want one", op.ID)
	}
	if err := op.Body.Decode(raw, kind, into[op.ID]); fmt.Sprint(err) != fmt.Sprint(flaw) {
		t.Fatalf("%s: %v, want %v", op.ID, err, flaw)
	}
}

// TestUnheardMethods: a method that nobody has heard of says of a path what any other does.
func TestUnheardMethods(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for _, method := range []string{"PROPFIND", "FOO", "get", "OPTIONS"} {
		h.want(404, "not_found", request{method: method, path: "/nope"})
		h.want(404, "endpoint_removed", request{method: method, path: "/space/v1/access/people"})
		h.want(404, "endpoint_removed", request{method: method, path: "/space/v1/doors/dor_1/access-config"})
		if got := h.want(405, "method_not_allowed", request{method: method, path: "/device/v1/devices"}).Header().Get("Allow"); got != "GET, HEAD" {
			t.Errorf("%s: Allow %q, want GET, HEAD", method, got)
		}
	}
}

// TestLegacyRefusals: a refused method on a legacy path says what has replaced the path, too.
func TestLegacyRefusals(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for path, successor := range map[string]string{
		"/device/v1/doors":                "/device/v1/devices",
		"/device/v1/doors/dor_1/open":     "/device/v1/devices/dor_1/commands",
		"/device/v1/doors/a%20b/policies": "/device/v1/devices/a%20b",
		"/device/v1/doors/a%2Fb/policies": "/device/v1/devices/a%2Fb",
		"/device/v1/boards/brd_1/netloss": "/device/v1/devices",
		"/device/v1/devices":              "",
	} {
		r := h.want(405, "method_not_allowed", request{method: "PATCH", path: path})
		link, want := r.Header().Get("Link"), "<"+successor+`>; rel="successor-version"`
		if successor == "" {
			want = ""
		}
		if link != want || (r.Header().Get("Deprecation") != "") != (successor != "") {
			t.Errorf("%s: Link %q and Deprecation %q, want %q", path, link, r.Header().Get("Deprecation"), want)
		}
	}
}

// TestOddNumbers: a number that float64 can't tell is wrong only where a field takes it.
func TestOddNumbers(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	permit := func(more string) request {
		return request{method: "POST", path: "/space/v1/partner/entry-permits", token: "key_a", body: strings.TrimSuffix(permitBody, "}") + more + "}"}
	}
	h.want(200, "", permit(`,"x":1e400,"y":[{"z":-1e999}]`))
	h.want(400, "invalid_phone", permit(`,"phone":1e400`))
	for _, minutes := range []string{"1e400", "-1e400", "1e-400", "5.00000000000000000000001", strings.Repeat("9", 401), "0.5"} {
		r := h.want(400, "invalid_field", request{method: "POST", path: "/device/v1/doors/dor_1/hold", token: "key_a", key: "k" + minutes[:3], body: `{"minutes":` + minutes + `}`})
		if r.details()["field"] != "minutes" {
			t.Errorf("minutes %.30s: details %v, want the field minutes", minutes, r.details())
		}
	}
	h.want(200, "", request{method: "POST", path: "/device/v1/doors/dor_1/hold", token: "key_a", key: "five", body: `{"minutes":0.50e1}`})
	h.want(403, "place_field_forbidden", request{method: "PATCH", path: "/core/v1/places/plc_a", token: "key_a", body: `{"name":1e400}`})
	r := h.want(200, "", request{method: "POST", path: "/space/v1/customers/import", token: "key_a",
		body: `{"source":"crm","items":[{"externalRef":"a","phone":"01011112222","name":"A"},{"externalRef":"b","phone":1e400,"name":"B"}]}`})
	if n := fmt.Sprint(r.data()["failed"]); n != "1" {
		t.Errorf("an import with one odd row: %v, want 1 failed", r.data())
	}
}

// TestFarOffset: an offset has no upper bound but that of the numbers that JSON can tell.
func TestFarOffset(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for offset, status := range map[string]int{"2147483647": 200, "2147483648": 200, "9007199254740992": 200, "9223372036854775807": 400} {
		q := request{method: "GET", path: "/space/v1/partner/entry-permits?offset=" + offset, token: "key_a"}
		if r := h.do(q); r.Code != status || status == 400 && !strings.Contains(r.Body.String(), "too large") {
			t.Errorf("offset %s: %d %s, want %d", offset, r.Code, r.Body, status)
		}
	}
}

// TestContentTypes: a content type that an endpoint doesn't take, or a second one, is refused, also once the same body
// has passed. The refusal names what the endpoint takes.
func TestContentTypes(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	const command, link = `{"capability":"door","command":"open"}`, `{"t":"x","doorId":"dor_1"}`
	const form = "application/x-www-form-urlencoded"
	for i, c := range []struct {
		path, body string
		kinds      []string
		want       string // in the message; "" = it isn't the body that is refused
	}{
		{"/device/v1/devices/dor_1/commands", command, []string{typeJSON}, ""},
		{"/device/v1/devices/dor_1/commands", command, []string{typeJSON, typeJSON}, "Content-Type is given more than once"},
		{"/device/v1/devices/dor_1/commands", command, []string{typeJSON, "text/plain"}, "Content-Type is given more than once"},
		{"/device/v1/devices/dor_1/commands", command, []string{form}, "must be application/json, not " + form + " (with curl: -H 'Content-Type: application/json')"},
		{"/device/v1/doors/dor_1/open", "", []string{typeJSON, "text/plain"}, ""}, // there is no body
		{"/entry/open", link, []string{"text/plain"}, "must be application/json or " + form},
		{"/entry/open", link, []string{form, typeJSON}, "Content-Type is given more than once"},
		{"/entry/open", link, []string{typeJSON}, ""},
	} {
		r := httptest.NewRequest("POST", c.path, strings.NewReader(c.body))
		r.Header["Content-Type"] = c.kinds
		r.Header.Set("Idempotency-Key", fmt.Sprint("kinds-", i))
		r.Header.Set("Authorization", "Bearer "+h.tokens["key_a"])
		w := httptest.NewRecorder()
		h.http.ServeHTTP(w, r)
		refused := w.Code == 400 && strings.Contains(w.Body.String(), `"invalid_body"`)
		if refused != (c.want != "") || !strings.Contains(w.Body.String(), c.want+`"`) && refused {
			t.Errorf("%s with %q: %d %s, want refused: %q", c.path, c.kinds, w.Code, w.Body, c.want)
		}
	}
}

// TestEncodedBodies: a body that isn't sent as it is gets a refusal that says so, also once the same body has passed.
func TestEncodedBodies(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for i, c := range []struct {
		encodings []string
		status    int
	}{{nil, 200}, {[]string{"gzip"}, 400}, {[]string{"identity", "br"}, 400}, {[]string{"Identity"}, 200}, {[]string{""}, 200}} {
		r := httptest.NewRequest("POST", "/device/v1/devices/dor_1/commands", strings.NewReader(`{"capability":"door","command":"open"}`))
		r.Header = http.Header{"Content-Type": {typeJSON}, "Idempotency-Key": {fmt.Sprint("encoded-", i)}, "Authorization": {"Bearer " + h.tokens["key_a"]}}
		if c.encodings != nil {
			r.Header["Content-Encoding"] = c.encodings
		}
		w := httptest.NewRecorder()
		h.http.ServeHTTP(w, r)
		if w.Code != c.status || w.Code == 400 && !strings.Contains(w.Body.String(), `"invalid_body","message":"the body must not be compressed`) {
			t.Errorf("%q: %d %s, want %d", c.encodings, w.Code, w.Body, c.status)
		}
	}
}

// TestBodiesCutShort: the refusal says why the body could not be read.
func TestBodiesCutShort(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for want, err := range map[string]error{
		"the body took too long to arrive: at most 10 s, an import's 30 s": &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded},
		"the body ended before it was complete":                            io.ErrUnexpectedEOF,
		"the body could not be read; look at its chunks":                   errors.New("malformed chunked encoding"),
	} {
		for _, length := range []int64{-1, 100} {
			r := httptest.NewRequest("POST", "/space/v1/partner/entry-permits", io.MultiReader(strings.NewReader("{"), iotest.ErrReader(err)))
			r.ContentLength = length
			r.Header.Set("Authorization", "Bearer "+h.tokens["key_a"])
			w := httptest.NewRecorder()
			h.http.ServeHTTP(w, r)
			if w.Code != 400 || !strings.Contains(w.Body.String(), `"invalid_body","message":"`+want+`"`) {
				t.Errorf("%v, length %d: %d %s, want %s", err, length, w.Code, w.Body, want)
			}
		}
	}
}

// TestSaysWhatToSend: a call without a token, and a time in another form, are refused with what to send instead.
func TestSaysWhatToSend(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for token, want := range map[string]string{
		"":                            "send the access token in the header Authorization: Bearer ACCESS_TOKEN",
		"Bearer " + h.tokens["key_a"]: "startsAt must be an RFC 3339 time with a zone, such as 2026-12-01T09:00:00Z",
	} {
		r := httptest.NewRequest("POST", "/space/v1/partner/entry-permits", strings.NewReader(`{"externalRef":"a","phone":"01012345678","startsAt":"2026-12-01","endsAt":"2026-12-02T00:00:00Z"}`))
		r.Header.Set("Authorization", token)
		w := httptest.NewRecorder()
		h.http.ServeHTTP(w, r)
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("%q: %d %s, want %s", token, w.Code, w.Body, want)
		}
	}
}

// TestNotJSON: the refusal says where a body stops being JSON, and calls one that is only nested too deeply what it is.
func TestNotJSON(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for body, want := range map[string]string{
		`{"externalRef":"a",}`: `the body is not valid JSON: byte 20: invalid character '}' looking for beginning of object key string`,
		`{"externalRef":"a"`:   `the body is not valid JSON: byte 18: unexpected end of JSON input`,
		strings.Repeat(`{"a":`, 10_001) + "1" + strings.Repeat("}", 10_001): "the body is nested too deeply: at most 10,000 levels",
		strings.Repeat(`[`, 9_999) + strings.Repeat("]", 9_999):             "the body must be a JSON object",
	} {
		r := httptest.NewRequest("POST", "/space/v1/partner/entry-permits", strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+h.tokens["key_a"])
		w := httptest.NewRecorder()
		h.http.ServeHTTP(w, r)
		if w.Code != 400 || !strings.Contains(w.Body.String(), `"invalid_body","message":"`+want+`"`) {
			t.Errorf("%.30s...: %d %s, want %s", body, w.Code, w.Body, want)
		}
	}
}

// TestChunkedBody: a body that doesn't say how long it is is bounded, too.
func TestChunkedBody(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for size, status := range map[int]int{60 << 10: 200, 80 << 10: 400} {
		body := strings.TrimSuffix(permitBody, "}") + `,"x":"` + strings.Repeat("x", size) + `"}`
		r := httptest.NewRequest("POST", "/space/v1/partner/entry-permits", strings.NewReader(body))
		r.ContentLength = -1
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+h.tokens["key_a"])
		w := httptest.NewRecorder()
		h.http.ServeHTTP(w, r)
		if w.Code != status || status == 400 && !strings.Contains(w.Body.String(), "body_too_large") {
			t.Errorf("%d bytes without a Content-Length: %d %.200s, want %d", size, w.Code, w.Body, status)
		}
	}
}
