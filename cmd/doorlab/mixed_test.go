package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/loadtest"
)

// TestMixedNeedsScope: with a key for doors alone a mixed load says what it lacks, and sends nothing.
func TestMixedNeedsScope(t *testing.T) {
	t.Parallel()
	const any0 = "127.0.0.1:0"
	ready := start(t, "up", "--json", "--boards", "10", "--control-token", "t", "--http", any0, "--mqtt", any0, "--control", any0).server()
	lab := client.Client{Base: ready.Control, Token: "t"}
	var key struct{ APIKey string }
	clienttest.Do(t, lab, http.MethodPost, "/lab/v1/keys", map[string]any{"placeId": ready.Places[0].PlaceID, "name": "doors", "scopes": []string{"device:door"}}, &key)
	code, _, errs := runQuietly(t.Context(), "load", "mixed", "--target", ready.HTTP, "--key", key.APIKey, "--out", t.TempDir())
	if code != codeUsage || !strings.Contains(errs, "needs the scope space:partner") {
		t.Errorf("exit code %d, %q; want %d and the scope", code, errs, codeUsage)
	}
}

// TestMixedLoad sends every kind of request to a real server with real boards, and judges what each promises.
func TestMixedLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	written(t, dir, map[string]string{"mixed.yaml": `
rate: 40/s
duration: 4s
requests: {command: 20%, register: 20%, reregister: 8%, revoke: 10%, permit: 7%, permits: 7%, devices: 7%, records: 7%, link: 10%, import: 4%}
fleet: {report: {p50: 1ms, p99: 5ms}}
timeout: 1m
maxLag: 1m
thresholds: {errors: 0, register_min: 1, reregister_min: 1, revoke_min: 1, permit_min: 1, permits_min: 1, devices_min: 1, records_min: 1, link_min: 1, import_min: 1}
`})
	code, stdout, errs := runQuietly(t.Context(), "load", filepath.Join(dir, "mixed.yaml"), "--boards", "20", "--out", out)
	var res loadtest.Result
	must.OK(t, json.Unmarshal(must.Get(os.ReadFile(filepath.Join(out, "result.json")))(t), &res))
	if code != codeOK && code != codeInvalid || res.Statuses["200"] != res.Sent { // INVALID: a machine too busy to send in time
		t.Fatalf("exit code %d, %d of %d answered 200, want 0 and all\n%s%s", code, res.Statuses["200"], res.Sent, stdout, errs)
	}
	judged := map[string]judge.Status{}
	for _, v := range res.Guarantees.Rows {
		judged[v.Clause] = v.Status
	}
	for id, want := range map[string]judge.Status{"PERM-1": judge.Pass, "PERM-3": judge.Pass, "CMD-1": judge.Pass, "SYNC-1": judge.Pass,
		"PERM-4": judge.Skipped, "ENT-3": judge.Skipped, "IMP-1": judge.Skipped,
		"PERM-7": judge.Skipped} { // no dead link is pressed, nobody calls, no row comes again, and no permit begins or ends
		if judged[id] != want {
			t.Errorf("%s is %q, want %s\n%s", id, judged[id], want, stdout)
		}
	}
	phone, link := regexp.MustCompile(`(?:^|[^0-9a-z])010\d{8}(?:[^0-9a-z]|$)`), regexp.MustCompile(`"entryToken": ?"[^"*…]{20}`)
	must.OK(t, filepath.WalkDir(out, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text := string(must.Get(os.ReadFile(path))(t))
		for _, secret := range []*regexp.Regexp{phone, link} {
			if found := secret.FindString(text); found != "" && !strings.HasSuffix(path, ".bin") {
				t.Errorf("%s has %s, want no phone and no entry token", path, found)
			}
		}
		return nil
	}))
}
