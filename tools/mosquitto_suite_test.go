package tools

import (
	"bytes"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/report"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/scenarios"
	"github.com/doorlab/doorlab/scenarios/engine"
	"github.com/doorlab/doorlab/testbed"
)

// inhabit starts a world on virtual time in which a board made of mosquitto's tools
// has taken a simulated one's place, and returns how to play scenario files in it.
func inhabit(t *testing.T, script string) func(files ...*engine.File) engine.Result {
	t.Helper()
	needMosquitto(t)
	w := world.Default(7, 30)
	bed := must.Get(testbed.Start(t.Context(), testbed.Config{World: w, Fleet: true, Virtual: true, DataDir: t.TempDir(), Control: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler)}))(t)
	t.Cleanup(func() { _ = bed.Stop() })
	events, id := &events{log: bed.History}, w.Places[1].Boards[3].ID // the first board's door is the one for phones
	var login struct{ MQTT, ClientID, Password string }
	clienttest.Do(t, client.Client{Base: bed.Ready.Control, Token: bed.Ready.ControlToken}, "POST", "/lab/v1/boards/"+id+"/detach", nil, &login)
	host, port, err := net.SplitHostPort(strings.TrimPrefix(login.MQTT, "tcp://"))
	if err != nil {
		t.Fatal(err)
	}
	start(t, script, host, port, login.ClientID, login.Password).until(t, "online, epoch ")
	away := false
	events.until(t, "content on the real board", func(e history.Event) bool {
		away = away || e.Kind == history.Detached && e.BoardID == id
		return away && e.Kind == history.Applied && e.BoardID == id
	})
	target := engine.Target{HTTP: bed.Ready.HTTP, Control: []string{bed.Ready.Control}, Tokens: []string{bed.Ready.ControlToken},
		Places: engine.PlacesOf(bed.Ready.Places)}
	return func(files ...*engine.File) engine.Result {
		res := must.Get(engine.Run(t.Context(), target, files, engine.Options{Seed: 7}))(t)
		return res
	}
}

// around are the built-in files that TestSuiteAroundARealBoard plays: something of
// each family but fleets and load, with jumps over 36 h and a restart of the server.
var around = []string{"commands_refusals", "devices_values", "faults_duplicate", "faults_skew", "faults_stale", "holds_long",
	"holds_reboot", "idempotency_hold", "idempotency_keys", "idempotency_restart", "imports_rows", "legacy_shared_keys",
	"outage_36h", "outage_grants", "outage_links", "outage_policy", "records_values", "reservations_time", "sync_values", "terms_values"}

// TestSuiteAroundARealBoard plays a good part of the built-in suite in a world with a real board,
// and a file about that board before and after it: all pass, and the ledger counts
// what the real board did beside what the journals prove.
func TestSuiteAroundARealBoard(t *testing.T) {
	t.Parallel()
	play := inhabit(t, "./mosquitto-board.sh")
	suite := must.Get(engine.LoadFS(scenarios.Files))(t)
	own := must.Get(engine.Load("testdata/real_board.yaml"))(t)
	files := []*engine.File{own[0].Again(1, 2)}
	for _, f := range suite {
		if slices.Contains(around, f.Base()) {
			files = append(files, f)
		}
	}
	files = append(files, own[0].Again(2, 2))
	if len(files) != len(around)+2 {
		t.Errorf("%d files are played, want %d: around names one that isn't there", len(files), len(around)+2)
	}
	res := play(files...)
	for _, f := range res.Files {
		if f.Status != judge.Pass {
			t.Errorf("%s is %s: %s, want %s", f.Path, f.Status, f.Reason, judge.Pass)
		}
	}
	var b bytes.Buffer
	must.OK(t, report.WriteTable(&b, res))
	if res.Status != judge.Pass || !strings.Contains(b.String(), "of real boards, judged without a journal") {
		t.Errorf("the run is %s, want PASS with the real board counted:\n%s", res.Status, &b)
	}
	for _, r := range res.Ledger {
		if r.Clause == "CMD-1" && (r.Real < 10 || r.Judged == 0) {
			t.Errorf("CMD-1 counts %d commands of the real board and %d with a journal, want at least 10 and more than 0", r.Real, r.Judged)
		}
	}
}

// TestWrongRealBoards: what a real board does wrong is charged where it shows
// without a journal.
func TestWrongRealBoards(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ old, new, steps, clause, why string }{
		"says twice that it opened": {`-m "$2"`, `-m "$2" $([ "$1" = rpt ] && echo --repeat 2)`,
			"  - {command: {door: hardware, outcome: reported}, clauses: [ENT-4]}\n  - {records: {place: hardware}, expect: count > 0, clauses: [ENT-4]}\n  - permit: {person: ann, place: hardware}\n  - synced: {of: hardware}\n", "CMD-1", "was reported ok twice on one connection"},
		"never answers a command": {"\tunacked[$id]=1\n\tsay rpt \"${reports[$id]}\"\n", "",
			"  - {command: {door: hardware, outcome: noResponse}, clauses: [ENT-4]}\n  - {records: {place: hardware}, expect: count > 0, clauses: [ENT-4]}\n  - permit: {person: ann, place: hardware}\n  - synced: {of: hardware}\n",
			"CMD-4", "got no report"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw := must.Get(os.ReadFile("mosquitto-board.sh"))(t)
			wrong := strings.Replace(string(raw), c.old, c.new, 1)
			if wrong == string(raw) {
				t.Fatalf("the script has no %q to break", c.old)
			}
			script := filepath.Join(t.TempDir(), "wrong-board.sh")
			must.OK(t, os.WriteFile(script, []byte(wrong), 0o700))
			file := must.Get(engine.Parse("wrong.yaml", []byte("setup:\n  - cohort: {name: hardware, real: true}\nsteps:\n"+c.steps)))(t)
			res := inhabit(t, script)(file)
			for _, r := range res.Ledger {
				if r.Clause == c.clause && (r.Status != judge.Fail || !strings.Contains(r.Number, c.why)) {
					t.Errorf("got %s, want FAIL with %q", r, c.why)
				}
			}
			f := res.Files[0]
			if f.Status != judge.Fail || f.Played == nil || f.Played.Status != judge.Pass || res.ExitCode() != 4 {
				t.Errorf("the file is %s (%s), its steps %v, exit code %d, want FAIL, steps that passed and 4: the checker alone notices", f.Status, f.Reason, f.Played, res.ExitCode())
			}
		})
	}
}
