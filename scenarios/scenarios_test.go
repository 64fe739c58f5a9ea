package scenarios_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/report"
	"github.com/doorlab/doorlab/internal/scenario"
	"github.com/doorlab/doorlab/internal/testbed"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/loadtest"
	"github.com/doorlab/doorlab/scenarios"
)

func load(t *testing.T) []*scenario.File {
	t.Helper()
	files, err := scenario.LoadFS(scenarios.Files)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestFiles: every file loads, says what it shows, and is named family_what;
// the families of the main job have several files.
func TestFiles(t *testing.T) {
	t.Parallel()
	families := map[string]int{}
	for _, f := range load(t) {
		if f.Doc.Name == "" || f.Doc.Description == "" || len(f.Doc.Clauses) == 0 {
			t.Errorf("%s: needs a name, a description and clauses", f.Base())
		}
		family, what, _ := strings.Cut(f.Base(), "_")
		if what == "" {
			t.Errorf("%s: name it family_what.yaml", f.Base())
		}
		families[family]++
	}
	for _, family := range []string{"sync", "outage", "idempotency"} {
		if families[family] < 2 {
			t.Errorf("family %s has %d files", family, families[family])
		}
	}
}

// TestEmbedded: no file of this folder is left out of the suite.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	names, err := fs.Glob(scenarios.Files, "*.yaml")
	if err != nil || len(names) != len(load(t)) {
		t.Errorf("%d files embedded, %d loaded (%v)", len(names), len(load(t)), err)
	}
}

// TestSuite runs every file on a small fleet of its own, all at once since they
// mostly wait: all pass, and together they are evidence for every guarantee.
func TestSuite(t *testing.T) {
	t.Parallel()
	files := load(t)
	results, errs := make([]scenario.Result, len(files)), make([]error, len(files))
	var wg sync.WaitGroup
	for i, f := range files {
		dir := t.TempDir()
		wg.Go(func() { results[i], errs[i] = play(t.Context(), dir, f, 20) })
	}
	wg.Wait()
	for i, f := range files { // INVALID says nothing of the system: the machine was too busy for the generator
		for tries := 0; tries < 2 && errs[i] == nil && results[i].Status == history.Invalid; tries++ {
			t.Logf("%s again, alone: %s", f.Base(), results[i].Reason)
			results[i], errs[i] = play(t.Context(), t.TempDir(), f, 20)
		}
	}
	covered := map[string]int{}
	for i, res := range results {
		if errs[i] != nil {
			t.Errorf("%s: %v", files[i].Base(), errs[i])
		}
		if res.Status != history.Pass || res.ExitCode() != 0 {
			var b bytes.Buffer
			_ = report.WriteTable(&b, res)
			t.Error(b.String())
		}
		for _, r := range res.Ledger {
			if r.Status == history.Pass && len(r.Assertions) > 0 {
				covered[r.Clause] += r.Checked
			}
		}
	}
	for _, c := range history.Clauses() {
		if covered[c] == 0 {
			t.Errorf("%s is covered by no file", c)
		}
	}
}

// play runs one file on a testbed with virtual time and a milder load.
func play(ctx context.Context, dir string, f *scenario.File, boards int) (res scenario.Result, err error) {
	tb, err := testbed.Start(ctx, testbed.Config{World: world.Default(7, boards), Fleet: true, Virtual: true,
		DataDir: dir, Control: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return res, err
	}
	defer func() { err = errors.Join(err, tb.Stop()) }()
	target := scenario.Target{HTTP: tb.Ready.HTTP, Control: []string{tb.Ready.Control}, ControlToken: tb.Ready.ControlToken}
	for _, p := range tb.Ready.Places {
		target.Places = append(target.Places, scenario.Place{PlaceID: p.PlaceID, Name: p.Name, Kind: p.Kind, APIKey: *p.APIKey, EntryPhone: p.EntryPhone})
	}
	return scenario.Run(ctx, target, []*scenario.File{f}, scenario.Options{Seed: 7, Loader: mild,
		Vars: map[string]string{"minRate": "10", "permits": "50", "revoked": "25", "during": "2s", "each": "60", "most": "60"}})
}

// mild keeps the shape of a plan and takes a part of its rate and time: the
// race detector and the other tests need the machine too.
func mild(ctx context.Context, target loadtest.Target, p loadtest.Plan, o loadtest.Options) (loadtest.Result, error) {
	p.Rate, p.Duration, p.MaxLag = p.Rate/5, p.Duration/8, loadtest.Duration(10*time.Second)
	return loadtest.Run(ctx, target, p, o)
}
