package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
)

// plants are the bugs in the real code behind the build tag "planted": the
// scenario of the built-in suite that shows each soonest, and the clause that
// must fail for it. `make planted` runs the whole suite on each.
var plants = []struct{ bug, file, clause string }{
	{"publish-before-commit", "idempotency_keys", "CMD-5"},
	{"memory-only-ledger", "idempotency_restart", "CMD-5"},
	{"board-ignores-notafter", "idempotency_late", "CMD-4"},
	{"outage-36h-ge", "outage_restart", "OFF-2"},
	{"revocation-lost", "sync_storm", "SYNC-2"},
	{"board-acts-twice", "idempotency_keys", "CMD-1"},
	{"conflict-after-send", "idempotency_keys", "CMD-5"},
}

// Every planted bug fails the suite, and the verdict names the clause and the
// first bad event; without one the same build passes.
func TestPlantedBugsAreCaught(t *testing.T) {
	t.Parallel()
	bin := filepath.Join(t.TempDir(), "doorlab-planted")
	build := exec.Command("go", "build", "-tags", "planted", "-o", bin, "../..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build -tags planted: %v\n%s", err, out)
	}
	t.Run("none", func(t *testing.T) {
		t.Parallel()
		var files []string
		for _, p := range plants {
			if f := scenarioFile(p.file); !slices.Contains(files, f) {
				files = append(files, f)
			}
		}
		if code, _, out := checkPlanted(t, bin, "", files...); code != OK {
			t.Errorf("exit code %d without a bug\n%s", code, out)
		}
	})
	for _, p := range plants {
		t.Run(p.bug, func(t *testing.T) {
			t.Parallel()
			code, rows, out := checkPlanted(t, bin, p.bug, scenarioFile(p.file))
			if code != Failed {
				t.Fatalf("exit code %d, want %d\n%s", code, Failed, out)
			}
			r := rows[p.clause]
			if r.Status != history.Fail || r.FirstBad == nil || len(r.FirstBad.Timeline) == 0 {
				t.Errorf("%s: %s, %s, first bad %v\n%s", p.clause, r.Status, r.Number, r.FirstBad, out)
			}
		})
	}
}

func scenarioFile(name string) string { return filepath.Join("..", "..", "scenarios", name+".yaml") }

func checkPlanted(t *testing.T, bin, bug string, files ...string) (code int, rows map[string]history.Row, output []byte) {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command(bin, append([]string{"check", "--boards", "20", "--out", dir}, files...)...)
	cmd.Env = append(os.Environ(), "DOORLAB_PLANT="+bug)
	output, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "verdicts.json"))
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	var res struct {
		Ledger []history.Row `json:"ledger"`
	}
	if err := json.Unmarshal(raw, &res); err != nil {
		t.Fatal(err)
	}
	rows = map[string]history.Row{}
	for _, r := range res.Ledger {
		rows[r.Clause] = r
	}
	return cmd.ProcessState.ExitCode(), rows, output
}
