package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/report"
)

// forgetful is a deployment whose repeats under an Idempotency-Key get another
// command's id: what a key alone can find out about it.
func forgetful(t *testing.T, base string) string {
	t.Helper()
	to := must.Get(url.Parse(base))(t)
	s := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to); r.Out.Header.Del("Accept-Encoding") },
		ModifyResponse: func(r *http.Response) error {
			if r.Header.Get("Idempotent-Replayed") == "" {
				return nil
			}
			body, err := io.ReadAll(r.Body)
			body = bytes.ReplaceAll(body, []byte(`"cmd_0`), []byte(`"cmd_1`))
			r.Body = io.NopCloser(bytes.NewReader(body))
			return err
		},
	})
	t.Cleanup(s.Close)
	return s.URL
}

// TestKeyOnly: somebody else's deployment, of which one has API keys and nothing else.
// What needs boards or time is SKIPPED with the reason, the rest is played and scored, and
// the place is left as it was.
func TestKeyOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const any0 = "127.0.0.1:0"
	ready := start(t, "up", "--json", "--boards", "10", "--http", any0, "--mqtt", any0, "--control", any0).server()
	run := func(target, key string, args ...string) (code int, res report.Result, said string) {
		out := filepath.Join(dir, strings.ReplaceAll(key+target, "/", "-"))
		args = append(args, "--target", target, "--key", key, "--out", out)
		code, stdout, stderr := onceCalm(t, args...)
		if args[0] == "check" {
			var err error
			if res, err = report.Judge(out); err != nil {
				t.Fatalf("%v\n%s%s", err, stdout, stderr)
			}
		}
		return code, res, stdout + stderr
	}
	for _, place := range ready.Places[:2] { // a test place, a live one
		before := stateOf(t, ready.HTTP, *place.APIKey)
		code, res, said := run(ready.HTTP, *place.APIKey, "check")
		if code != codeOK {
			t.Errorf("%s: exit code %d, want 0\n%s", place.Kind, code, said)
		}
		skipped := 0
		for _, f := range res.Files {
			if f.Status == judge.Skipped && strings.HasPrefix(f.Reason, "needs ") {
				skipped++
			} else if f.Status != judge.Pass {
				t.Errorf("%s: %s is %s: %s; want PASS, or SKIPPED with what it needs", place.Kind, f.Path, f.Status, f.Reason)
			}
		}
		if skipped == 0 || skipped == len(res.Files) {
			t.Errorf("%s: %d of %d files are skipped, want some", place.Kind, skipped, len(res.Files))
		}
		for _, s := range res.Scores {
			if s.Held != s.Possible || s.Broken != 0 {
				t.Errorf("%s: %s; want all that is possible", place.Kind, s)
			}
		}
		if !strings.Contains(said, "checks possible with a key only") {
			t.Errorf("%s: the report has no score\n%s", place.Kind, said)
		}
		if after := stateOf(t, ready.HTTP, *place.APIKey); after != before {
			t.Errorf("%s: the place was left as\n%s\nwant as it was:\n%s", place.Kind, after, before)
		}
	}
	code, res, said := run(forgetful(t, ready.HTTP), *ready.Places[1].APIKey, "check", "key_doors")
	for _, s := range res.Scores {
		if s.Clause == "CMD-5" && s.Broken == 0 {
			t.Errorf("repeats with another command's id: %s, want broken ones", s)
		}
	}
	if code != codeFailed || !strings.Contains(said, "CMD-5") {
		t.Errorf("repeats with another command's id: exit code %d, want %d and CMD-5 named\n%s", code, codeFailed, said)
	}
	if code, _, said := run(ready.HTTP, *ready.Places[1].APIKey, "load", "testdata/key_only.yaml"); code != codeOK || !strings.Contains(said, "not judged") || !strings.Contains(said, "AUTH-1") || strings.Contains(said, "CMD-5") {
		t.Errorf("load: exit code %d, want 0, AUTH-1 judged by what the clients saw, and no word on openings, which they didn't see\n%s", code, said)
	}
}

// stateOf is what a run could have changed of a key's place: windows, outage policies,
// hours, and whether doors are held.
func stateOf(t *testing.T, base, key string) string {
	t.Helper()
	c := client.Client{Base: base}
	token, place, err := c.Exchange(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	c.Token = token
	out := map[string]any{}
	ask := func(method, path string, body any) (data any) {
		clienttest.Do(t, c, method, path, body, &data)
		return data
	}
	hours, _ := ask("PATCH", "/core/v1/places/"+place, map[string]any{"hours": map[string]any{"week": map[string]any{}}}).(map[string]any)
	out["hours"] = hours["hours"]
	for _, b := range ask("GET", "/device/v1/boards", nil).([]any) {
		board, _ := b.(map[string]any)
		id, _ := board["boardId"].(string)
		policy, _ := ask("GET", "/device/v1/boards/"+id+"/netloss", nil).(map[string]any)
		out[id] = []any{policy["graceSec"], policy["channels"]}
	}
	for _, d := range ask("GET", "/device/v1/devices", nil).([]any) {
		door, _ := d.(map[string]any)
		id, _ := door["id"].(string)
		out[id] = ask("GET", "/device/v1/doors/"+id+"/policies", nil)
	}
	text := must.Get(json.MarshalIndent(out, "", " "))(t)
	return string(text)
}
