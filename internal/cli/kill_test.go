package cli

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

const killWorld = `
seed: 11
places:
  - name: Killed
    kind: live
    fleet: {boards: 8, doorsPerBoard: 2, report: {p50: 20ms, p99: 100ms}}
`

// TestKillNineUnderLoad kills the server ten times as SIGKILL does, under load,
// and restarts it on the same data, while the boards live on in a process of
// their own: every key that was answered gives the same answer again, and no
// key has two pulses in any journal [CMD-5] [CMD-6].
func TestKillNineUnderLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("ten restarts take half a minute; run without -short")
	}
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "world.yaml")
	if err := os.WriteFile(file, []byte(killWorld), 0o600); err != nil {
		t.Fatal(err)
	}
	api, mqtt, control := freeAddr(t), freeAddr(t), freeAddr(t)
	serve := func() *proc {
		return start(t, "serve", "--json", "--world", file, "--data", filepath.Join(dir, "server"), "--http", api, "--mqtt", mqtt, "--control", control)
	}
	server := serve()
	key := *server.server().Places[0].APIKey
	boards := start(t, "boards", "--json", "--world", file, "--data", filepath.Join(dir, "boards"), "--broker", mqtt, "--control", "127.0.0.1:0").fleet()

	l := newKeyLoad(t, "http://"+api, key)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for n := range 16 {
		wg.Go(func() { l.work(ctx, n) })
	}
	for range 10 {
		l.waitFor(40) // doors opened since the last kill
		server.kill()
		server = serve()
		waitOnline(t, boards.Control, boards.ControlToken)
		l.restarted()
	}
	l.waitFor(40)
	cancel()
	wg.Wait()

	answered, commands := l.askAgain()
	pulses := map[string]int{}
	for _, b := range listBoards(t, boards.Control, boards.ControlToken) {
		for _, line := range journal(t, boards.Control, boards.ControlToken, b) {
			if line.Cause == "command" && line.Action == "pulse" {
				pulses[line.CommandID]++
			}
		}
	}
	for id, n := range pulses {
		if n > 1 {
			t.Errorf("command %s has %d pulses", id, n)
		}
		if commands[id] == "" {
			t.Errorf("command %s has a pulse, but no key answers with it", id)
		}
	}
	t.Logf("%d keys sent, %d answered before the end, %d commands, %d pulses", len(l.keys), answered, len(commands), len(pulses))
	if len(pulses) == 0 {
		t.Error("no door ever opened: nothing was tested")
	}
}
