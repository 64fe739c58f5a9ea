package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/testbed"
)

// TestCopyAsScenario: what is copied from the inbox lints, plays, and expects the
// answer that the request had.
func TestCopyAsScenario(t *testing.T) {
	t.Parallel()
	tb := must.Get(testbed.Start(t.Context(), testbed.Config{World: world.Default(1, 4), DataDir: t.TempDir(), HTTP: "127.0.0.1:0", MQTT: "127.0.0.1:0", Control: "127.0.0.1:0"}))(t)
	t.Cleanup(func() { _ = tb.Stop() })
	run := func(want int, args ...string) string {
		t.Helper()
		var o, e bytes.Buffer
		env := &env{in: strings.NewReader(""), out: &o, err: &e, getenv: func(k string) string {
			if args[0] == "check" { // in worlds of its own
				return ""
			}
			return map[string]string{"DOORLAB_CONTROL": tb.Ready.Control, "DOORLAB_CONTROL_TOKEN": tb.Ready.ControlToken}[k]
		}}
		if code := run(t.Context(), args, env); code != want {
			t.Errorf("%v: exit %d, want %d\n%s%s", args, code, want, o.String(), e.String())
		}
		return o.String()
	}
	place, door, _ := tb.Example()
	api := must.Get(client.Client{Base: tb.Ready.HTTP}.SignIn(t.Context(), *place.APIKey))(t)
	requests(t, api, door)
	lab := client.Client{Base: tb.Ready.Control, Token: tb.Ready.ControlToken}
	var list []inboxRow
	clienttest.Do(t, lab, "GET", "/lab/v1/inbox?placeId="+place.PlaceID, nil, &list)
	dir := t.TempDir()
	args := []string{"check", "--out", filepath.Join(dir, "run")}
	for _, r := range list {
		text := run(codeOK, "inbox", "scenario", fmt.Sprint(r.Seq))
		if strings.Contains(text, "01012341234") || strings.Contains(text, *place.APIKey) {
			t.Errorf("the scenario has a secret:\n%s", text)
		}
		if r.Code == "idempotency_key_reused" { // needs what came before
			continue
		}
		file := filepath.Join(dir, fmt.Sprintf("%02d.yaml", r.Seq))
		must.OK(t, os.WriteFile(file, []byte(text), 0o600))
		run(codeOK, "check", "lint", file)
		args = append(args, file)
	}
	out := run(codeOK, args...)
	if n := strings.Count(out, "FAIL"); n > 0 || len(args)-3 != len(list)-1 {
		t.Errorf("%d files of %d requests played, %d FAIL, want %d and 0\n%s", len(args)-3, len(list), n, len(list)-1, out)
	}
	inboxByHand(t, run, tb.Ready.HTTP, place, list)
}

var goLiveSum = regexp.MustCompile(`(?m)^\d+ of \d+ points proven, [1-9]\d* broken, \d+ not yet proven$`)

// inboxByHand is the rest of the inbox on the command line, over the requests of a place.
func inboxByHand(t *testing.T, run func(want int, args ...string) string, base string, place client.Place, list []inboxRow) {
	t.Helper()
	out := run(codeOK, "inbox", "list", "--place", place.Name, "--status", "502")
	if strings.Count(out, "\n") != 2 || !strings.Contains(out, "device_refused") {
		t.Errorf("inbox list --status 502: got %s, want the heading and one request", out)
	}
	if out = run(codeOK, "inbox", "show", fmt.Sprint(list[0].Seq)); !strings.Contains(out, "405 method_not_allowed") {
		t.Errorf("inbox show: got %s, want the answer 405", out)
	}
	if out = run(codeOK, "inbox", "curl", fmt.Sprint(list[0].Seq)); !strings.HasPrefix(out, "curl -sS '"+base) {
		t.Errorf("inbox curl: got %s, want it to begin with %q", out, "curl -sS '"+base)
	}
	if out = run(codeFailed, "go-live", "--place", place.PlaceID); !strings.Contains(out, "broken: doorIds is never an empty array") || !strings.Contains(out, "not yet proven: ") || !goLiveSum.MatchString(out) {
		t.Errorf("go-live: got %s, want the points and how many of them are proven", out)
	}
	number := regexp.MustCompile(`requests? (\d+)`).FindStringSubmatch(out) // the numbers that 'inbox show' takes
	if number == nil {
		t.Fatalf("go-live: got %s, want the numbers of requests", out)
	}
	run(codeOK, "inbox", "show", number[1])
	if out = run(codeFailed, "go-live", "--place", place.PlaceID, "--json"); !strings.Contains(out, `"ready":false`) {
		t.Errorf("go-live --json: got %s, want %q in it", out, `"ready":false`)
	}
	if out = run(codeOK, "inbox", "clear", "--place", place.PlaceID); !strings.HasPrefix(out, fmt.Sprint(len(list))) {
		t.Errorf("inbox clear: got %s, want %d removed", out, len(list))
	}
	run(codeUsage, "inbox", "show", "x1")
	long := must.Get(client.Client{Base: base}.SignIn(t.Context(), *place.APIKey))(t)
	must.Get(long.Call(t.Context(), "POST", "/space/v1/customers/import", "", map[string]any{"source": strings.Repeat("x", 9000)}))(t)
	seq := regexp.MustCompile(`(?m)^(\d+) .* /space/v1/customers/import `).FindStringSubmatch(run(codeOK, "inbox", "list", "--place", place.Name))
	if seq == nil {
		t.Fatal("the import isn't in the inbox")
	}
	for _, as := range []string{"curl", "scenario"} {
		if out = run(codeFailure, "inbox", as, seq[1]); out != "" {
			t.Errorf("inbox %s of a request that is too long: got %q, want nothing", as, out)
		}
	}
	run(codeOK, "inbox", "show", seq[1])
}

// requests are what the inbox has: right ones and mistakes of every kind.
func requests(t *testing.T, api client.Client, door string) {
	t.Helper()
	command := "/device/v1/devices/" + door + "/commands"
	for _, r := range []struct {
		method, path, key, body string
		status                  int
	}{
		{"POST", "/space/v1/partner/entry-permits", "", `{"externalRef":"it's \"a\" ${ref}","phone":"01012341234","name":"Ann","startsAt":"2026-10-05T00:00:00Z","endsAt":"2026-10-06T00:00:00Z","doorIds":["` + door + `"]}`, 200},
		{"POST", "/space/v1/partner/entry-permits", "", `{"externalRef":"b","phone":"01012341234","startsAt":"2026-10-05T00:00:00Z","endsAt":"2026-10-06T00:00:00Z","doorIds":[]}`, 400},
		{"POST", "/space/v1/partner/entry-permits", "", `not JSON: 'at' "all" ${x}`, 400},
		{"POST", command, "k1", `{"capability":"door","command":"open","args":{"reason":"front: \"desk\" ${n} #1"}}`, 200},
		{"POST", command, "k2", `{"capability":"door","command":"hold","args":{"minutes":5}}`, 200},
		{"POST", command, "k2", `{"capability":"door","command":"close"}`, 409},
		{"POST", command, "k3", `{"capability":"door","command":"open","args":{"reason":"sim:refused:jammed"}}`, 502},
		{"POST", command, "k4", `{"capability":"door","command":"open","args":{"reason":"sim:offline"}}`, 409},
		{"POST", command, "", `{"capability":"door","command":"open"}`, 400},
		{"POST", command, "k5", `{"capability":"window","command":"open"}`, 400},
		{"POST", "/device/v1/doors/" + door + "/open", "k6", ``, 200},
		{"POST", "/device/v1/devices/dor_nope/commands", "k7", `{"capability":"door","command":"open"}`, 404},
		{"GET", "/device/v1/devices?limit=5", "", ``, 200},
		{"GET", command, "", ``, 405},
	} {
		a, err := api.Call(t.Context(), r.method, r.path, r.key, []byte(r.body))
		if err != nil || a.Status != r.status {
			t.Fatalf("%s %s: %v, got %v, want %d", r.method, r.path, err, a, r.status)
		}
	}
}

// TestInboxText: a request without a body leaves no gap.
func TestInboxText(t *testing.T) {
	t.Parallel()
	var r inboxRow
	r.Method, r.Path, r.Status, r.Answer = "GET", "/x", 200, "{}"
	if got := r.text(); got != "GET /x\n\n200\n{}" {
		t.Errorf("got %q", got)
	}
	r.Request, r.Status, r.Code, r.Answer = "{a}", 404, "not_found", ""
	if got := r.text(); got != "GET /x\n{a}\n\n404 not_found" {
		t.Errorf("got %q", got)
	}
}
