package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// signalled is a writer that says when a text has been written.
type signalled struct {
	mu    sync.Mutex
	b     bytes.Buffer
	text  string
	found chan struct{}
}

func (s *signalled) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	had := strings.Contains(s.b.String(), s.text)
	s.b.Write(p)
	if !had && strings.Contains(s.b.String(), s.text) {
		close(s.found)
	}
	return len(p), nil
}

func (s *signalled) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// TestUpForAPerson: addresses, keys, an entry link that works, and three
// commands that do what they say when they are pasted; nothing on stderr.
func TestUpForAPerson(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"up", "serve"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			out := &signalled{text: "Press Ctrl-C to stop.\n", found: make(chan struct{})}
			var stderr bytes.Buffer
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			code := make(chan int, 1)
			go func() {
				code <- Run(ctx, []string{command, "--http", "127.0.0.1:0", "--mqtt", "127.0.0.1:0", "--control", "127.0.0.1:0"},
					&env{in: strings.NewReader(""), out: out, err: &stderr, getenv: func(string) string { return "" }})
			}()
			select {
			case <-out.found:
			case c := <-code:
				t.Fatalf("ended with %d: %s", c, stderr.String())
			}
			text := out.String()
			for _, want := range []string{`API      http://127\.0\.0\.1:\d+\n`, `MQTT     tcp://127\.0\.0\.1:\d+\n`, `control  http://127\.0\.0\.1:\d+   token [0-9a-f]{48}\n`, `Open http://127\.0\.0\.1:\d+/ in a browser: the console\.`, `  export DOORLAB_CONTROL=http://127\.0\.0\.1:\d+ DOORLAB_CONTROL_TOKEN=[0-9a-f]{48}\n`, `test Test place +sact_[A-Za-z0-9]{36}   05\d+\n`} {
				if !regexp.MustCompile(want).MatchString(text) {
					t.Errorf("no %s in\n%s", want, text)
				}
			}
			link := regexp.MustCompile(`http://\S+/entry\?t=\S+`).FindString(text)
			resp, err := http.Get(link)
			if err != nil {
				t.Fatalf("entry link %q: %v", link, err)
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				t.Errorf("entry link %s: %s", link, resp.Status)
			}
			paste(t, text)
			cancel()
			if c := <-code; c != OK || stderr.Len() > 0 {
				t.Errorf("ended with %d: %s", c, stderr.String())
			}
		})
	}
}

func paste(t *testing.T, text string) {
	t.Helper()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	_, rest, _ := strings.Cut(text, "Try it: ")
	_, rest, _ = strings.Cut(rest, "\n")
	commands, _, _ := strings.Cut(rest, "\nPress Ctrl-C")
	got, err := exec.Command("bash", "-c", commands).CombinedOutput()
	if err != nil || !strings.Contains(string(got), `"outcome":"reported"`) || !strings.Contains(string(got), `"result":"opened"`) {
		t.Errorf("pasted:\n%s\ngot: %s, %v", commands, got, err)
	}
}
