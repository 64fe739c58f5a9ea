package api

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/server/api/openapi"
)

// judge is one of the third-party checkers in tools/openapi.
func judge(t *testing.T, name string) string {
	t.Helper()
	path := must.Get(filepath.Abs("../../tools/openapi/node_modules/.bin/" + name))(t)
	if _, err := os.Stat(path); err != nil {
		const why = "%s is not installed: npm ci --prefix tools/openapi --ignore-scripts (.ci/run does)"
		if os.Getenv("CI") != "" { // nothing is skipped there
			t.Fatalf(why, name)
		}
		t.Skipf(why, name)
	}
	return path
}

// served writes the documents to files exactly as they are served.
func (h *house) served() map[string]string {
	h.t.Helper()
	dir, out := h.t.TempDir(), map[string]string{}
	for _, name := range openapi.Names {
		r := h.want(200, "", request{method: "GET", path: "/" + name + "/v1/openapi.json"})
		body := strings.Replace(r.Body.String(), "http://example.com", "https://doors.test", 1)
		out[name] = filepath.Join(dir, name+".json")
		must.OK(h.t, os.WriteFile(out[name], []byte(body), 0o600))
	}
	return out
}

func TestSpectral(t *testing.T) {
	t.Parallel()
	tool := judge(t, "spectral")
	h := newHouse(t)
	args := []string{"lint", "--quiet", "--fail-severity", "hint", "--ruleset", "../../tools/openapi/.spectral.yaml"}
	for _, file := range h.served() {
		args = append(args, file)
	}
	if out, err := exec.Command(tool, args...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

var listening = regexp.MustCompile(`listening on (http://\S+)`)

// prism starts a validating proxy and returns its address.
func prism(t *testing.T, tool, document, upstream string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, tool, "proxy", "-p", "0", "-h", "127.0.0.1", document, upstream)
	out := must.Get(cmd.StdoutPipe())(t)
	must.OK(t, cmd.Start())
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if m := listening.FindStringSubmatch(lines.Text()); m != nil {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return m[1]
		}
	}
	t.Fatal("prism never listened")
	return ""
}

// TestPrism: prism, a third-party validating proxy, sits between a partner and the server. Every operation and every
// device failure passes through it without a reported violation, in requests or answers. Planted violations must be
// reported, otherwise its silence would prove nothing.
func TestPrism(t *testing.T) {
	t.Parallel()
	tool := judge(t, "prism")
	h := newHouse(t)
	fill := h.fixtures()
	h.plantAnswer()
	url, at := h.serve(), map[string]string{}
	files := h.served()
	for name, file := range files {
		at[name] = prism(t, tool, file, url)
	}
	calls := 0
	through := func(doc string, want int, q request) (violations string) {
		t.Helper()
		calls++
		q.path, q.body = fill.Replace(q.path), fill.Replace(q.body)
		return h.through(at[doc], want, q)
	}

	silent := func(doc string, want int, q request) {
		t.Helper()
		if v := through(doc, want, q); v != "" {
			t.Errorf(`got %s %s %d: %s, want v = ""`, q.method, q.path, want, v)
		}
	}
	for _, d := range h.api.docs {
		for _, op := range d.Ops {
			row := matrix[op.ID]
			q := request{method: op.Method, path: row.path, body: row.body}
			if op.Scope != "none" {
				q.token = "key_a"
			}
			if row.key {
				q.key = "prism-" + op.ID
			}
			silent(d.Name, 200, q)
			if row.key {
				silent(d.Name, 200, q) // the replay
			}
			if row.unknown != "" {
				q.path = row.unknown
				silent(d.Name, map[bool]int{true: 403, false: 404}[op.Resource == "place"], q)
			}
		}
	}
	command := request{method: "POST", path: matrix["commandDevice"].path, body: matrix["commandDevice"].body, token: "key_a"}
	open := request{method: "POST", path: "/device/v1/doors/dor_1/open", token: "key_a"}
	for _, x := range []struct {
		behave string
		status int
	}{{"offline", 409}, {"busy", 502}, {"silent", 504}} {
		h.boards.set(x.behave)
		command.key, open.key = "new-"+x.behave, "old-"+x.behave
		silent("device", x.status, command)
		silent("device", x.status, open)
	}
	h.boards.set("")
	silent("space", 409, request{method: "POST", path: permits, token: "key_p", body: strings.Replace(permitBody, "2026-11-02", "2027-11-02", 1)})
	silent("space", 403, request{method: "GET", path: permits, token: "key_d"})
	silent("space", 401, request{method: "GET", path: permits, header: map[string]string{"Authorization": "Bearer none"}})
	silent("core", 401, request{method: "POST", path: "/core/v1/auth/apikey/token", body: `{"key":"none"}`})
	silent("space", 200, request{method: "POST", path: permits + "/revoke", token: "key_p", body: `{"externalRef":"m-1"}`})
	silent("space", 404, request{method: "GET", path: "/entry?t=TOKEN"})
	if v := through("space", 400, request{method: "POST", path: permits, token: "key_p", body: `{"externalRef":5}`}); !strings.Contains(v, "request") {
		t.Errorf("a broken request passed: got %q, want %q in it", v, "request")
	}
	if v := through("device", 200, request{method: "GET", path: "/device/v1/devices", token: "key_a", header: map[string]string{"X-Planted": "1"}}); !strings.Contains(v, "response") {
		t.Errorf("a broken answer passed: got %q, want %q in it", v, "response")
	}
	if h.tick(900 * time.Second); calls < 60 {
		t.Errorf("only %d calls, want at least 60", calls)
	}
	silent("device", 401, command)
	t.Logf("%d calls through prism", calls)
}

// through sends a request through a prism and returns the violations it reports.
func (h *house) through(base string, want int, q request) (violations string) {
	t := h.t
	t.Helper()
	r := must.Get(http.NewRequest(q.method, base+q.path, strings.NewReader(q.body)))(t)
	if q.body != "" {
		r.Header.Set("Content-Type", typeJSON)
	}
	if q.token != "" {
		r.Header.Set("Authorization", "Bearer "+h.tokens[q.token])
	}
	if q.key != "" {
		r.Header.Set("Idempotency-Key", q.key)
	}
	for k, v := range q.header {
		r.Header.Set(k, v)
	}
	res := must.Get(http.DefaultClient.Do(r))(t)
	body, _ := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if res.StatusCode != want {
		t.Errorf("%s %s: %d %.300s, want %d", q.method, q.path, res.StatusCode, body, want)
	}
	return res.Header.Get("sl-violations")
}

// plantAnswer answers requests with the header X-Planted in violation of the documents.
func (h *house) plantAnswer() {
	good := h.http
	h.http = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Planted") == "" {
			good.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", typeJSON)
		_, _ = w.Write([]byte(`{"success":true,"data":[{"id":5}]}`))
	})
}
