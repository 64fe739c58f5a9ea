package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
)

// TestPartnersPage: the commands of docs/partners.md work as they stand, in their
// order, and end with a checklist of which every point is proven.
func TestPartnersPage(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits 8 s for a door that doesn't answer")
	}
	p := start(t, "up", "--json", "--clock", "virtual", "--boards", "10", "--http", "127.0.0.1:0", "--mqtt", "127.0.0.1:0", "--control", "127.0.0.1:0")
	ready := p.server()
	raw := must.Get(os.ReadFile("../../docs/partners.md"))(t)
	code := ""
	blocks := strings.Split(string(raw), "```sh\n")[1:]
	for _, part := range blocks {
		block, _, ok := strings.Cut(part, "```")
		if !ok {
			t.Fatal("a block that doesn't end")
		}
		code += block
	}
	code = strings.Replace(code, "http://127.0.0.1:8080", ready.HTTP, 1)
	cmd := exec.CommandContext(t.Context(), "bash", "-eu", "-c", code)
	cmd.Env = append(os.Environ(), "PATH="+releaseDir(t)+":"+os.Getenv("PATH"), "DOORLAB_CONTROL="+ready.Control, "DOORLAB_CONTROL_TOKEN="+ready.ControlToken)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v", err)
	}
	rest := string(out)
	for _, want := range []string{
		`"permitId":"pmt_`, "opened  phone  dor_", `"result":"opened"`, `"outcome":"reported"`, `"reason":"link"`, `"state":"revoked"`, "denied  revoked  dor_", "is revoked",
		"device_offline", "device_no_response", "device_no_response", "sim:noResponse", "curl -sS", "name: \"POST /device/v1/devices/{id}/commands answers 504\"",
		`"error":"rate_limited"`, `"outcome":"reported"`, "proven  An access token is reused until it expires",
		"proven  Errors are handled",
	} {
		i := strings.Index(rest, want)
		if i < 0 {
			t.Fatalf("no %s, in this order, in\n%s", want, out)
		}
		rest = rest[i+len(want):]
	}
	if n := strings.Count(string(out), "proven  "); n != 8 {
		t.Errorf("%d points are proven at the end, want 8:\n%s", n, out)
	}
	if len(blocks) < 6 {
		t.Errorf("%d blocks of commands, want at least 6", len(blocks))
	}
}
