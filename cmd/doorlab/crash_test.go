package main

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/must"
)

// TestCrashPoints kills the server, as SIGKILL does, at each step of a command,
// restarts it on the same data while the boards live on, and asks again under
// the same key: one definite answer from then on, byte for byte, at most one
// pulse, none where the command was not sent, one record [CMD-5] [CMD-6] [ENT-4].
func TestCrashPoints(t *testing.T) {
	if testing.Short() {
		t.Skip("six restarts; run without -short")
	}
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "world.yaml")
	must.OK(t, os.WriteFile(file, []byte(killWorld), 0o600))
	api, mqtt, control := freeAddr(t), freeAddr(t), freeAddr(t)
	serve := func() *proc {
		return start(t, "serve", "--json", "--crash-points", "--world", file, "--data", filepath.Join(dir, "server"), "--http", api, "--mqtt", mqtt, "--control", control)
	}
	server := serve()
	ready := server.server()
	boards := start(t, "boards", "--json", "--world", file, "--data", filepath.Join(dir, "boards"), "--broker", mqtt, "--control", "127.0.0.1:0").fleet()
	lab := client.Client{Base: ready.Control, Token: ready.ControlToken}
	l := newKeyLoad(t, "http://"+api, *ready.Places[0].APIKey)

	for i, c := range []struct {
		step   string
		status string
		pulses int // -1 = at most one
	}{
		{"after-claim", "504", 0},
		{"before-publish", "504", 0},
		{"after-publish", "504", -1},
		{"before-commit", "504", 1},
		{"after-commit", "200", 1},
		{"before-answer", "200", 1},
	} {
		key, door := "crash-"+c.step, l.doors[i%len(l.doors)]
		clienttest.Do(t, lab, http.MethodPost, "/lab/v1/crash", map[string]string{"at": c.step}, nil)
		if got, err := l.send(context.Background(), door, key); err == nil {
			t.Errorf("%s: the server answered %s", c.step, got)
		}
		<-server.ended
		if ws, ok := server.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || ws.Signal() != syscall.SIGKILL {
			t.Errorf("%s: the server ended with %s", c.step, server.cmd.ProcessState)
		}
		server = serve()
		first, err := l.send(t.Context(), door, key)
		if err != nil || !strings.HasPrefix(first, c.status) {
			t.Fatalf("%s: then %s, %v; want %s", c.step, first, err, c.status)
		}
		if again, err := l.send(t.Context(), door, key); again != first {
			t.Errorf("%s: then %s, then %s, %v", c.step, first, again, err)
		}
		id := commandOf(first)
		pulses := 0
		for _, b := range listBoards(t, boards.Control, boards.ControlToken) {
			for _, line := range journal(t, boards.Control, boards.ControlToken, b) {
				if line.CommandID == id && line.Action == "pulse" {
					pulses++
				}
			}
		}
		if pulses > 1 || c.pulses >= 0 && pulses != c.pulses {
			t.Errorf("%s: %d pulses, want %d", c.step, pulses, c.pulses)
		}
		if n := l.records(id); n != 1 {
			t.Errorf("%s: got %d records of %s, want 1", c.step, n, id)
		}
		waitOnline(t, boards.Control, boards.ControlToken)
	}
}

// records counts the entry records of a command.
func (l *keyLoad) records(commandID string) (n int) {
	l.t.Helper()
	var rows []struct{ CommandID string }
	clienttest.Do(l.t, l.api, http.MethodGet, "/space/v1/partner/entry-logs?limit=500", nil, &rows)
	for _, r := range rows {
		if r.CommandID == commandID {
			n++
		}
	}
	return n
}
