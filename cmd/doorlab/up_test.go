package main

import (
	"bytes"
	"context"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/capture"
	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/must"
)

// TestUpForAPerson: addresses, keys, an entry link that works, and three
// commands that do what they say when they are pasted; nothing on stderr.
func TestUpForAPerson(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"up", "serve"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			out := &capture.Text{}
			var stderr bytes.Buffer
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			code := make(chan int, 1)
			go func() {
				code <- run(ctx, []string{command, "--http", "127.0.0.1:0", "--mqtt", "127.0.0.1:0", "--control", "127.0.0.1:0"},
					&env{in: strings.NewReader(""), out: out, err: &stderr, getenv: func(string) string { return "" }})
			}()
			select {
			case <-out.Says("Press Ctrl-C to stop.\n"):
			case c := <-code:
				t.Fatalf("ended with %d: %s", c, stderr.String())
			}
			text := out.String()
			for _, want := range []string{`API      http://127\.0\.0\.1:\d+\n`, `MQTT     tcp://127\.0\.0\.1:\d+\n`, `control  http://127\.0\.0\.1:\d+   token [0-9a-f]{48}\n`, `Open http://127\.0\.0\.1:\d+/ in a browser: the console\.`, `  export DOORLAB_CONTROL=http://127\.0\.0\.1:\d+ DOORLAB_CONTROL_TOKEN=[0-9a-f]{48}\n`, `test  Test place +sact_[A-Za-z0-9]{36}  05\d+\n`} {
				if !regexp.MustCompile(want).MatchString(text) {
					t.Errorf("no %s in\n%s", want, text)
				}
			}
			link := regexp.MustCompile(`http://\S+/entry\?t=\S+`).FindString(text)
			if status, _ := clienttest.Get(t, link); status != http.StatusOK {
				t.Errorf("entry link %s: got %d, want 200", link, status)
			}
			paste(t, text)
			cancel()
			if c := <-code; c != codeOK || stderr.Len() > 0 {
				t.Errorf("ended with %d: %s", c, stderr.String())
			}
		})
	}
}

// TestOpenConsole: on a terminal the address signs in, elsewhere no address has the token.
func TestOpenConsole(t *testing.T) {
	t.Parallel()
	for watched, want := range map[bool]string{
		true:  "Open this in a browser; it signs you in to the console:\n  http://127.0.0.1:8081/login#token=a%20b%2Fc\n",
		false: "Open http://127.0.0.1:8081/ in a browser: the console. Sign in with the token above.\n",
	} {
		if got := openConsole("http://127.0.0.1:8081", "a b/c", watched); got != want {
			t.Errorf("terminal %v: got %q, want %q", watched, got, want)
		}
	}
}

func paste(t *testing.T, text string) {
	t.Helper()
	must.Have(t, "curl", "curl")
	_, rest, _ := strings.Cut(text, "Try it: ")
	_, rest, _ = strings.Cut(rest, "\n")
	commands, _, _ := strings.Cut(rest, "\nPress Ctrl-C")
	got, err := exec.Command("bash", "-c", commands).CombinedOutput()
	if err != nil || !strings.Contains(string(got), `"outcome":"reported"`) || !strings.Contains(string(got), `"result":"opened"`) {
		t.Errorf("pasted:\n%s\ngot: %s, %v", commands, got, err)
	}
}
