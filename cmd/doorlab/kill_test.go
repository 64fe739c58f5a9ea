package main

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
)

const killWorld = `
seed: 11
places:
  - name: Killed
    kind: live
    fleet: {boards: 8, doorsPerBoard: 2, report: {p50: 20ms, p99: 100ms}}
    keys: [{name: load}]
`

// kills is how often TestKillNineUnderLoad kills: make torture does it more often.
const kills = 5

// TestKillNineUnderLoad kills the server again and again as SIGKILL does, under load,
// and restarts it on the same data, the boards in a process of their own that
// lives on, or killed with it: every key that was answered gives the same
// answer again, no key has two pulses in any journal, none but those answered
// 200 or 504 has one, and those answered 200 have it [CMD-1] [CMD-5] [CMD-6].
func TestKillNineUnderLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("kills the server under load; run without -short")
	}
	t.Parallel()
	for name, apart := range map[string]bool{"boards live on": true, "boards die too": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			killUnderLoad(t, apart)
		})
	}
}

func killUnderLoad(t *testing.T, apart bool) {
	dir := t.TempDir()
	file := filepath.Join(dir, "world.yaml")
	must.OK(t, os.WriteFile(file, []byte(killWorld), 0o600))
	api, mqtt, control := freeAddr(t), freeAddr(t), freeAddr(t)
	command := "up"
	if apart {
		command = "serve"
	}
	begin := func() *proc {
		return start(t, command, "--json", "--world", file, "--data", filepath.Join(dir, "server"), "--http", api, "--mqtt", mqtt, "--control", control)
	}
	server := begin()
	ready := server.server()
	lab, token := ready.Control, ready.ControlToken // of the boards
	if apart {
		boards := start(t, "boards", "--json", "--world", file, "--data", filepath.Join(dir, "boards"), "--broker", mqtt, "--control", "127.0.0.1:0").fleet()
		lab, token = boards.Control, boards.ControlToken
	}

	l := newKeyLoad(t, "http://"+api, *ready.Places[0].APIKey)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for n := range 16 {
		wg.Go(func() { l.work(ctx, n) })
	}
	for range kills {
		l.waitFor(40) // doors opened since the last kill
		server.kill()
		server = begin()
		waitOnline(t, lab, token)
		l.restarted()
	}
	l.waitFor(40)
	cancel()
	wg.Wait()

	commands := l.askAgain()
	opened := pulsesFit(t, commands, pulsesOf(t, lab, token))
	t.Logf("%d keys, %d answered 200", len(l.keys), opened)
	if opened < 40*kills {
		t.Errorf("%d doors opened: hardly anything was tested, want at least %d", opened, 40*kills)
	}
}
