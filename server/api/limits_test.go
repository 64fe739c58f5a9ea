package api

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestLimits covers the contract's table of limits, each at its value and one beyond.
func TestLimits(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	logs, events, schedule := "/space/v1/partner/entry-logs", "/core/v1/places/plc_a/events", "/core/v1/public/places/plc_a/schedule"
	for _, tt := range []struct {
		path   string
		status int
	}{
		{permits + "?limit=500", 200}, {permits + "?limit=501", 400}, {permits + "?limit=0", 400}, {permits + "?limit=1&offset=99", 200},
		{permits + "?externalRef=", 400}, {permits + "?externalRef=" + strings.Repeat("x", 128), 200}, {permits + "?externalRef=" + strings.Repeat("x", 129), 400},
		{logs + "?limit=500&sinceDays=30", 200}, {logs + "?limit=501", 400}, {logs + "?sinceDays=31", 400}, {logs + "?sinceDays=0", 400}, {logs + "?sinceDays=1", 200},
		{events + "?limit=500", 200}, {events + "?limit=501", 400}, {events + "?doorId=" + strings.Repeat("a,", 10) + "b", 200},
		{events + "?doorId=" + ids(200), 200}, {events + "?doorId=" + ids(201), 400}, {events + "?permitId=" + ids(50_000), 400},
		{schedule + "?days=60", 200}, {schedule + "?days=61", 400}, {schedule + "?days=0", 400},
		{"/space/v1/customers?limit=501", 400}, {"/space/v1/memberships?limit=501", 400}, {"/space/v1/reservations?limit=501", 400},
	} {
		code := ""
		if tt.status == 400 {
			code = "invalid_query"
		}
		h.want(tt.status, code, request{method: "GET", path: tt.path, token: "key_p"})
	}
	reason := func(n int) string {
		return fmt.Sprintf(`{"externalRef":"m-1","reason":"%s"}`, strings.Repeat("이", n)) // characters, not bytes
	}
	h.permit(permitBody)
	h.want(400, "invalid_field", request{method: "POST", path: permits + "/revoke", token: "key_p", body: reason(201)})
	h.want(200, "", request{method: "POST", path: permits + "/revoke", token: "key_p", body: reason(200)})
	h.want(400, "missing_field", request{method: "POST", path: permits + "/revoke", token: "key_p", body: `{"reason":"x"}`})
}

func ids(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%x,", i)
	}
	return b.String() + "0"
}

// TestPeriodAtTheLimit: exactly 720 h is allowed, a millisecond more isn't, and the answer says by how much it is too
// long [PERM-5].
func TestPeriodAtTheLimit(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	body := func(ends string) string {
		return `{"externalRef":"long","phone":"01012345678","startsAt":"2026-11-01T09:00:00+09:00","endsAt":"` + ends + `"}`
	}
	h.want(200, "", request{method: "POST", path: permits, token: "key_p", body: body("2026-12-01T00:00:00.000Z")})
	r := h.want(409, "permit_period_too_long", request{method: "POST", path: permits, token: "key_p", body: body("2026-12-01T00:00:00.001Z")})
	if d := r.details(); d["maxHours"] != 720.0 || d["requestedHours"].(float64) <= 720 || d["doorId"] != "dor_1" {
		t.Errorf(`got %v, want d["maxHours"] = 720.0, d["requestedHours"].(float64) > 720, d["doorId"] = "dor_1"`, d)
	}
	h.want(400, "invalid_period", request{method: "POST", path: permits, token: "key_p", body: body("2026-11-01T00:00:00Z")})
	for _, bad := range []string{"2026-12-01T00:00:00", "2026-12-01", "1764547200000", "0001-01-01T00:00:00Z", ""} {
		h.want(400, "invalid_timestamp", request{method: "POST", path: permits, token: "key_p", body: body(bad)})
	}
}

// TestTokenAtItsEnd: valid to the last millisecond of 900 s [AUTH-1] [AUTH-2].
func TestTokenAtItsEnd(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	r := h.want(200, "", request{method: "POST", path: "/core/v1/auth/apikey/token", body: `{"key":"` + h.keys["key_p"] + `"}`})
	if d := r.data(); d["expiresIn"] != 900.0 || d["placeId"] != "plc_a" || fmt.Sprint(d["scopes"]) != "[space:partner]" {
		t.Errorf(`got %v, want d["expiresIn"] = 900.0, d["placeId"] = "plc_a", fmt.Sprint(d["scopes"]) = "[space:partner]"`, d)
	}
	q := request{method: "GET", path: permits, auth: "Bearer " + r.data()["accessToken"].(string)}
	h.tick(900*time.Second - time.Millisecond)
	h.want(200, "", q)
	h.tick(time.Millisecond)
	h.want(401, "token_expired", q)
}

// TestOrderOfChecks: if several things are wrong with a request, the first in the documented order is reported.
func TestOrderOfChecks(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	q := request{method: "PUT", path: "/device/v1/devices/none/commands", body: "{"} // everything is wrong
	for _, step := range []struct {
		status int
		code   string
		mend   func()
	}{
		{405, "method_not_allowed", func() { q.method = "POST" }},
		{401, "token_missing", func() { q.token = "key_p" }},
		{403, "scope_missing", func() { q.token = "key_a" }},
		{404, "device_not_found", func() { q.path = "/device/v1/devices/dor_1/commands" }},
		{400, "idempotency_key_required", func() { q.key = "k" }},
		{400, "invalid_body", func() { q.body = `{"capability":"door","command":"jump"}` }},
		{400, "unsupported_command", func() { q.body = `{"capability":"door","command":"hold","args":{"minutes":1441}}` }},
		{400, "invalid_field", func() { q.body = `{"capability":"door","command":"door.open"}`; h.boards.set("offline") }},
		{409, "device_offline", func() { h.boards.set(""); q.body = `{"capability":"door","command":"close"}` }},
		{409, "idempotency_key_reused", func() { q.key = "l" }},
		{200, "", func() {}},
	} {
		h.want(step.status, step.code, q)
		step.mend()
	}
	p := request{method: "POST", path: permits, token: "key_p"} // 400 before 409
	p.body = `{"externalRef":"o","phone":"1","startsAt":"2026-11-01T00:00:00Z","endsAt":"2027-11-01T00:00:00Z"}`
	h.want(400, "invalid_phone", p)
	p.body = strings.Replace(p.body, `"1"`, `"01012345678","doorIds":[]`, 1)
	h.want(400, "empty_door_ids", p)
	p.body = strings.Replace(p.body, `[]`, `["dor_1"]`, 1)
	h.want(409, "permit_period_too_long", p)
}

// TestRefusalsOfNobody: commands without a valid token don't fill any table.
func TestRefusalsOfNobody(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	path := "/device/v1/devices/dor_1/commands"
	for range 100 {
		h.want(401, "token_missing", request{method: "POST", path: path, key: "k", body: openBody})
		h.want(401, "token_invalid", request{method: "POST", path: path, key: "k", auth: "Bearer x.y.z", body: openBody})
	}
	if _, n, err := h.store.Audits("", 1, 0); err != nil || n != 0 {
		t.Errorf("got %d rows, %v, want 0 and no error", n, err)
	}
	h.want(404, "device_not_found", request{method: "POST", path: "/device/v1/devices/dor_x/commands", token: "key_d", key: "k", body: openBody})
	if list, n, err := h.store.Audits("", 1, 0); err != nil || n != 1 || list[0].KeyID != "key_d" {
		t.Errorf("%d rows, %+v, %v; want only that of key_d", n, list, err)
	}
}
