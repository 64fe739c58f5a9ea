package api

import (
	"strings"
	"testing"
)

// TestHostIsNotEchoed: no answer contains the Host header that the caller sent. The documents name the configured
// address, or one relative to their own.
func TestHostIsNotEchoed(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for _, path := range []string{"/core/v1/openapi.json", "/space/v1/openapi.json", "/device/v1/openapi.json", "/core/v1/docs", "/livez", "/version", "/entry?t=x", "/nowhere"} {
		r := h.do(request{method: "GET", path: "http://evil.example" + path, header: map[string]string{"X-Forwarded-Host": "evil.example", "Forwarded": "host=evil.example"}})
		text := r.Body.String()
		for name, values := range r.Header() {
			text += name + strings.Join(values, " ")
		}
		if strings.Contains(text, "evil.example") {
			t.Errorf("GET %s says the caller's Host, want it nowhere", path)
		}
	}
	r := h.want(200, "", request{method: "POST", path: "http://evil.example/space/v1/partner/entry-permits", token: "key_a",
		body: `{"externalRef":"host","phone":"01012345678","startsAt":"2026-10-01T00:00:00Z","endsAt":"2026-10-02T00:00:00Z"}`})
	if url, _ := r.data()["url"].(string); !strings.HasPrefix(url, "https://entry.example/") {
		t.Errorf("entry link %q, want the configured address", url)
	}

	named := newHouse(t, func(c *Config) { c.BaseURL = "https://doors.example/" })
	servers, _ := named.want(200, "", request{method: "GET", path: "/core/v1/openapi.json"}).json["servers"].([]any)
	if len(servers) != 1 || servers[0].(map[string]any)["url"] != "https://doors.example" {
		t.Errorf("servers %v, want the configured address alone", servers)
	}
}
