package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
)

// TestCheckOverProcesses: a server and two slices of a fleet, each a process
// with a virtual clock of its own, the server hours ahead; check takes their
// control addresses in any order and moves their time in step.
func TestCheckOverProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "world.yaml")
	must.OK(t, os.WriteFile(file, []byte(killWorld), 0o600))
	scenario := filepath.Join(dir, "apart.yaml")
	must.OK(t, os.WriteFile(scenario, []byte(apart), 0o600))
	any0 := "127.0.0.1:0"
	server := start(t, "serve", "--json", "--world", file, "--clock", "virtual", "--http", any0, "--mqtt", any0, "--control", any0, "--control-token", "t").server()
	args := []string{"check", scenario, "--out", filepath.Join(dir, "run"), "--target", server.HTTP, "--control-token", "t"}
	for _, slice := range []string{"1/2", "2/2"} {
		fleet := start(t, "boards", "--json", "--world", file, "--clock", "virtual", "--broker", server.MQTT, "--control", any0, "--control-token", "t",
			"--slice", slice, "--data", filepath.Join(dir, "boards")).fleet()
		if fleet.Boards != 4 {
			t.Errorf("slice %s has %d boards, want 4", slice, fleet.Boards)
		}
		args = append(args, "--control", fleet.Control)
		if slice == "1/2" {
			args = append(args, "--control", server.Control)
		}
	}
	code, out, errs := onceCalm(t, args...)
	if code != codeOK {
		t.Errorf("exit code %d, want %d\n%s\n%s", code, codeOK, out, errs)
	}
}

const apart = `
name: processes apart
setup:
  - cohort: {name: all, share: 100%}
  - cohort: {name: half, share: 50%}
steps:
  - command: {door: half, outcome: reported}
  - synced: {}
  - fault: {name: cut, fault: offline, of: half}
  - clock: {advance: 36h}
  - clear: cut
  - synced: {}
  - command: {door: half, outcome: reported}
`
