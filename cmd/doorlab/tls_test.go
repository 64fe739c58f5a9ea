package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/certs/certstest"
	"github.com/doorlab/doorlab/internal/must"
)

// TestCheckOverTLS: server, fleet and check in processes of their own, with
// certificates, client certificates and the control token from a file.
func TestCheckOverTLS(t *testing.T) {
	t.Parallel()
	ca := certstest.NewCA(t)
	web, webKey := ca.Issue("web", 1)
	board, boardKey := ca.Issue("fleet", 2)
	file, scenario, token := filepath.Join(ca.Dir, "world.yaml"), filepath.Join(ca.Dir, "one.yaml"), filepath.Join(ca.Dir, "token")
	for name, text := range map[string]string{file: killWorld, scenario: oneCommand, token: "a-token-from-a-file\n"} {
		must.OK(t, os.WriteFile(name, []byte(text), 0o600))
	}
	any0 := "127.0.0.1:0"
	server := start(t, "serve", "--json", "--world", file, "--http", any0, "--mqtt", any0, "--control", any0, "--control-token-file", token,
		"--tls-cert", web, "--tls-key", webKey, "--mqtt-tls-cert", web, "--mqtt-tls-key", webKey, "--mqtt-client-ca", ca.File).server()
	if server.ControlToken != "a-token-from-a-file" {
		t.Errorf("control token %q, want the file's", server.ControlToken)
	}
	fleet := start(t, "boards", "--json", "--world", file, "--broker", server.MQTT, "--mqtt-ca", ca.File, "--mqtt-client-cert", board,
		"--mqtt-client-key", boardKey, "--control", any0, "--control-token-file", token).fleet()
	if fleet.Boards != 8 {
		t.Errorf("%d boards over TLS, want 8", fleet.Boards)
	}
	run := func(args ...string) (int, string) {
		code, out, errs := onceCalm(t, args...)
		return code, out + errs
	}
	check := []string{"check", scenario, "--out", filepath.Join(ca.Dir, "run"), "--target", server.HTTP, "--control", server.Control, "--control", fleet.Control,
		"--control-token-file", token}
	if code, out := run(append(check, "--ca", ca.File)...); code != codeOK {
		t.Errorf("check: exit code %d, want 0\n%s", code, out)
	}
	if code, out := run(check...); code != codeUnreachable {
		t.Errorf("check without --ca: exit code %d, want %d: nobody vouches for the certificate\n%s", code, codeUnreachable, out)
	}
	if code, out := run("wait", "--url", server.HTTP, "--ca", ca.File); code != codeOK {
		t.Errorf("wait: exit code %d, want 0\n%s", code, out)
	}
	if code, out := run("keys", "list", "--control", server.Control, "--control-token-file", token); code != codeOK || !strings.Contains(out, "load") {
		t.Errorf("keys list: exit code %d, want 0 and the key\n%s", code, out)
	}
	plan := filepath.Join(ca.Dir, "plan.yaml")
	must.OK(t, os.WriteFile(plan, []byte(smallPlan), 0o600))
	if code, out := run("load", plan, "--out", filepath.Join(ca.Dir, "load"), "--target", server.HTTP, "--control", server.Control, "--control", fleet.Control,
		"--control-token-file", token, "--ca", ca.File); code != codeOK {
		t.Errorf("load: exit code %d, want 0\n%s", code, out)
	}
}

const oneCommand = `
name: over tls
setup:
  - cohort: {name: all, share: 100%}
steps:
  - command: {door: all, outcome: reported}
`

const smallPlan = `
name: over tls
rate: 4
duration: 5s
maxLag: 30s
`
