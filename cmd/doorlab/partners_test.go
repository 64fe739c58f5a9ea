package main

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/capture"
	"github.com/doorlab/doorlab/internal/must"
)

// upForPeople runs "doorlab up" until the end of the test and returns what it prints for people.
func upForPeople(t *testing.T, args ...string) string {
	t.Helper()
	out, stderr := &capture.Text{}, &capture.Text{}
	ctx, cancel := context.WithCancel(context.Background())
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, append([]string{"up", "--http", "127.0.0.1:0", "--mqtt", "127.0.0.1:0", "--control", "127.0.0.1:0"}, args...),
			&env{in: strings.NewReader(""), out: out, err: stderr, getenv: func(string) string { return "" }})
	}()
	select {
	case <-out.Says("Press Ctrl-C to stop.\n"):
	case c := <-code:
		t.Fatalf("up ended with %d: %s", c, stderr)
	}
	t.Cleanup(func() {
		cancel()
		if c := <-code; c != codeOK {
			t.Errorf("up ended with %d: %s", c, stderr)
		}
	})
	return out.String()
}

// readyLine is what a pattern captures in the text for people.
func readyLine(t *testing.T, text, pattern string) string {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("no %s in\n%s", pattern, text)
	}
	return m[1]
}

// TestPartnersPage: the commands of docs/partners.md work as they stand, in their
// order, with the lab started as the page says, and end with a checklist of which every point is proven.
func TestPartnersPage(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits 8 s for a door that doesn't answer")
	}
	text := upForPeople(t, "--clock", "virtual", "--boards", "10") // without --json, as the page says: it registers an example permit
	base, control := readyLine(t, text, `  API +(\S+)\n`), readyLine(t, text, `  export (DOORLAB_CONTROL=.*)\n`)
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
	code = strings.Replace(code, "http://127.0.0.1:8080", base, 1)
	cmd := exec.CommandContext(t.Context(), "bash", "-eu", "-c", "export "+control+"\n"+code)
	cmd.Env = append(os.Environ(), "PATH="+releaseDir(t)+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v", err)
	}
	rest := string(out)
	for _, want := range []string{
		`"permitId":"pmt_`, "opened  phone  dor_", `"result":"opened"`, `"outcome":"reported"`, `"reason":"link"`, `"state":"revoked"`, "denied  revoked  dor_", "is revoked",
		"device_offline", "device_no_response", "device_no_response", "sim:noResponse", "curl -sS", "name: \"POST /device/v1/devices/{id}/commands answers 504\"",
		`"error":"rate_limited"`, `"outcome":"reported"`, "proven: An access token is reused until it expires",
		"proven: Requests that can't succeed",
	} {
		i := strings.Index(rest, want)
		if i < 0 {
			t.Fatalf("no %s, in this order, in\n%s", want, out)
		}
		rest = rest[i+len(want):]
	}
	if n := strings.Count(string(out), "\nproven: "); n != 8 {
		t.Errorf("%d points are proven at the end, want 8:\n%s", n, out)
	}
	if len(blocks) < 6 {
		t.Errorf("%d blocks of commands, want at least 6", len(blocks))
	}
}
