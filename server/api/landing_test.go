package api

import (
	"html"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestLanding: the start page links everything that exists. Only readers on this machine see the test key and the
// console's address, even if another site's page points here.
func TestLanding(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(c *Config) {
		c.Console = "http://127.0.0.1:8081"
		c.Example = func() Example { return Example{Key: "sact_example", DoorID: "dor_example"} }
	})
	shown := func(path, from, host, proxied string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.RemoteAddr, r.Host = from, host
		r.Header.Set("Accept", "text/html")
		if proxied != "" {
			r.Header.Set("X-Forwarded-For", proxied)
		}
		w := httptest.NewRecorder()
		h.http.ServeHTTP(w, r)
		return w
	}
	for name, x := range map[string]struct {
		from, host, proxied string
		local               bool
	}{
		"this machine":        {"127.0.0.1:999", "127.0.0.1:8080", "", true},
		"by name":             {"127.0.0.1:999", "localhost:8080", "", true},
		"IPv6":                {"[::1]:999", "[::1]:8080", "", true},
		"another machine":     {"192.0.2.7:999", "127.0.0.1:8080", "", false},
		"a stranger's name":   {"127.0.0.1:999", "evil.example:8080", "", false},
		"through a proxy":     {"127.0.0.1:999", "127.0.0.1:8080", "192.0.2.7", false},
		"a name that is like": {"127.0.0.1:999", "localhost.evil.example", "", false},
	} {
		w := shown("/", x.from, x.host, x.proxied)
		body := w.Body.String()
		if w.Code != http.StatusOK || !strings.Contains(w.Header().Get("Content-Security-Policy"), "default-src 'none'") {
			t.Fatalf("%s: got %d with the policy %q, want the page", name, w.Code, w.Header().Get("Content-Security-Policy"))
		}
		for _, link := range []string{`href="/core/v1/docs"`, `href="/space/v1/docs"`, `href="/device/v1/docs"`} {
			if !strings.Contains(body, link) {
				t.Errorf("%s: the page has no %s", name, link)
			}
		}
		for _, line := range []string{"keys, tokens, events, places, opening hours", "permits, memberships, reservations, entry records"} { // where each is
			if !strings.Contains(body, line) {
				t.Errorf("%s: the page doesn't say %q", name, line)
			}
		}
		for _, block := range []string{"token", "open", "records"} {
			if !strings.Contains(body, `data-copy="`+block+`"`) || !strings.Contains(body, `<pre id="`+block+`">`) {
				t.Errorf("%s: the page has no button to copy %q", name, block)
			}
		}
		for _, own := range []string{"sact_example", "dor_example", `href="http://127.0.0.1:8081/"`} {
			if strings.Contains(body, own) != x.local {
				t.Errorf("%s: the page shows %s: %v, want %v", name, own, !x.local, x.local)
			}
		}
	}
	for from, want := range map[string]bool{"127.0.0.1:999": true, "192.0.2.7:999": false} {
		if got := strings.Contains(shown("/core/v1/docs", from, "127.0.0.1:8080", "").Body.String(), "sact_example"+`"`); got != want {
			t.Errorf("the reference shows the key to %s: %v, want %v", from, got, want)
		}
	}
	h.want(404, "not_found", request{method: "GET", path: "/", header: map[string]string{"Accept": "application/json"}})
}

// TestLandingCommands: the start page's commands work when pasted into sh, which has less than bash ($RANDOM is empty).
func TestLandingCommands(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"sh", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	var example Example
	h := newHouse(t, func(c *Config) { c.Example = func() Example { return example } })
	example = Example{Key: h.keys["key_a"], DoorID: "dor_1"}
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.RemoteAddr, r.Host = "127.0.0.1:9", "127.0.0.1:9"
	r.Header.Set("Accept", "text/html")
	w := httptest.NewRecorder()
	h.http.ServeHTTP(w, r)
	script := "set -eu\n"
	for _, block := range regexp.MustCompile(`(?s)<pre id="\w+">(.*?)</pre>`).FindAllStringSubmatch(w.Body.String(), -1) {
		script += html.UnescapeString(block[1]) + "\n"
	}
	said, err := exec.CommandContext(t.Context(), "sh", "-c", strings.ReplaceAll(script, "https://entry.example", h.serve())).CombinedOutput()
	if err != nil || strings.Count(string(said), `"success":true`) != 2 || !strings.Contains(string(said), `"outcome":"reported"`) {
		t.Errorf("%s\n%v\n%s\nwant a reported command and the records", script, err, said)
	}
}
