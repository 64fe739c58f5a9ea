package contract

import (
	"errors"
	"strings"
	"testing"
)

const doc = `{"openapi":"3.0.3","info":{"title":"x","version":"1"},"paths":{
	"/space/v1/partner/entry-permits/{permitId}":{"get":{"x-required-scope":"space:partner","responses":{"200":{"description":"","content":{"application/json":{"schema":
		{"type":"object","required":["success"],"properties":{"success":{"type":"boolean"},"at":{"type":"string","format":"date-time"}}}}}},"204":{"description":""}}}},
	"/space/v1/partner/entry-permits/revoke":{"get":{"responses":{"404":{"description":"","content":{"application/json":{"schema":{"type":"object"}}}}}}},
	"/entry":{"get":{"responses":{"200":{"description":"","content":{"text/html":{"schema":{"type":"string"}}}}}}}}}`

func TestCheck(t *testing.T) {
	t.Parallel()
	c, err := Read(func(path string) ([]byte, error) {
		switch path {
		case "/space/v1/openapi.json":
			return []byte(doc), nil
		case "/core/v1/openapi.json":
			return []byte("no document"), nil
		}
		return nil, errors.New("not published")
	})
	if err == nil || !strings.Contains(err.Error(), "/core/v1/openapi.json is not an OpenAPI document") || !strings.Contains(err.Error(), "/device/v1/openapi.json: not published") {
		t.Errorf("unread documents: got %v, want core and device", err)
	}
	const permit = "/space/v1/partner/entry-permits/pmt_1"
	const json = "application/json"
	for _, x := range []struct {
		name, method, path string
		status             int
		kind, body, want   string
		skipped            bool
	}{
		{name: "fits", method: "GET", path: permit, status: 200, kind: json, body: `{"success":true}`},
		{name: "the route itself", method: "GET", path: "/space/v1/partner/entry-permits/{permitId}", status: 200, kind: json, body: `{"success":true}`},
		{name: "with a charset", method: "GET", path: permit, status: 200, kind: json + "; charset=utf-8", body: `{"success":true}`},
		{name: "a missing field", method: "GET", path: permit + "?t=secret", status: 200, kind: json, body: `{}`, want: `"success"`},
		{name: "a time", method: "GET", path: permit, status: 200, kind: json, body: `{"success":true,"at":"2026-11-25T18:00:00.000Z"}`},
		{name: "a time without milliseconds", method: "GET", path: permit, status: 200, kind: json, body: `{"success":true,"at":"2026-11-25T18:00:00Z"}`, want: "date-time"},
		{name: "another status", method: "GET", path: permit, status: 500, kind: json, body: `{}`, want: "no such status"},
		{name: "another content", method: "GET", path: permit, status: 200, kind: "text/plain", body: `{}`, want: "no content of type"},
		{name: "not JSON", method: "GET", path: permit, status: 200, kind: json, body: `{`, want: "not JSON"},
		{name: "nothing", method: "GET", path: permit, status: 204},
		{name: "a literal beats a parameter", method: "GET", path: "/space/v1/partner/entry-permits/revoke", status: 404, kind: json, body: `{}`},
		{name: "a page", method: "GET", path: "/entry", status: 200, kind: "text/html", body: `<p>`},
		{name: "an unknown path", method: "GET", path: "/nowhere", status: 404, skipped: true},
		{name: "an unknown method", method: "PUT", path: permit, status: 405, skipped: true},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			checked, err := c.Check(x.method, x.path, x.status, x.kind, []byte(x.body))
			if checked == x.skipped || (err != nil) != (x.want != "") {
				t.Fatalf("checked %v, error %v; want checked %v, an error %v", checked, err, !x.skipped, x.want != "")
			}
			if err != nil && (!strings.Contains(err.Error(), x.want) || strings.Contains(err.Error(), "secret")) {
				t.Errorf("%v, want %q", err, x.want)
			}
		})
	}
	if checked, err := (*Contract)(nil).Check("GET", permit, 500, "", nil); checked || err != nil {
		t.Error("the nil Contract promises something")
	}
}
