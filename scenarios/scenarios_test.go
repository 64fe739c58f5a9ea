package scenarios_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/report"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/loadtest"
	"github.com/doorlab/doorlab/scenarios"
	"github.com/doorlab/doorlab/scenarios/engine"
	"github.com/doorlab/doorlab/testbed"
)

func load(t *testing.T) []*engine.File {
	t.Helper()
	files := must.Get(engine.LoadFS(scenarios.Files))(t)
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
			t.Errorf("family %s has %d files, want at least 2", family, families[family])
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

// TestSuite runs every file on a small fleet of its own, in a random order: all
// pass, alone as well as together, and together they prove every guarantee and
// drive every fault.
func TestSuite(t *testing.T) {
	t.Parallel()
	files := load(t)
	seed := uint64(time.Now().UnixNano() % 1_000_000)
	t.Logf("shuffled with seed %d", seed)
	rand.New(rand.NewPCG(seed, seed)).Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	res := suite(t, files, engine.Options{Parallel: 16, Whole: true})
	if late := invalid(res, files); len(late) > 0 { // says nothing of the system: the machine was too busy for their generators
		for tries := 0; tries < 5 && len(late) > 0; tries++ {
			t.Logf("again, %d files: %s", len(late), reasons(res))
			res := suite(t, late, engine.Options{Parallel: 1})
			late = failed(t, res, late)
		}
		if failed(t, res, files); len(late) > 0 {
			t.Errorf("INVALID each time: %s", late[0].Base())
		}
	} else if res.Status != judge.Pass || res.ExitCode() != 0 {
		var b bytes.Buffer
		_ = report.WriteTable(&b, res)
		t.Errorf("%s\n%s", reasons(res), b.String())
	}
	for i, f := range res.Files {
		if f.Path != files[i].Path {
			t.Errorf("result %d is of %s, want %s: the order given", i, f.Path, files[i].Path)
		}
		if f.Status == judge.Skipped {
			t.Errorf("%s was skipped: %s; the testbed has everything", f.Path, f.Reason)
		}
	}
}

// invalid are the files that were INVALID.
func invalid(res engine.Result, files []*engine.File) (out []*engine.File) {
	for i, f := range res.Files {
		if f.Status == judge.Invalid {
			out = append(out, files[i])
		}
	}
	return out
}

// failed reports files and guarantees that failed, and returns the files that were INVALID.
func failed(t *testing.T, res engine.Result, files []*engine.File) []*engine.File {
	t.Helper()
	for _, f := range res.Files {
		if f.Status != judge.Pass && f.Status != judge.Invalid {
			t.Errorf("%s is %s: %s", f.Path, f.Status, f.Reason)
		}
	}
	for _, r := range res.Ledger {
		if r.Status == judge.Fail {
			t.Errorf("%s is %s: %s", r.Clause, r.Status, r.Number)
		}
	}
	return invalid(res, files)
}

// reasons are the run's, and those of the files that didn't pass.
func reasons(res engine.Result) string {
	out := []string{res.Reason}
	for _, f := range res.Files {
		if f.Status != judge.Pass {
			out = append(out, fmt.Sprintf("%s %s: %s", f.Path, f.Status, f.Reason))
		}
	}
	return strings.Join(out, "; ")
}

// suite plays files, each in a world of its own.
func suite(t *testing.T, files []*engine.File, o engine.Options) engine.Result {
	t.Helper()
	o.Seed, o.Loader = 7, mild
	o.Vars = map[string]string{"minRate": "10", "permits": "50", "revoked": "25", "during": "2s", "each": "60", "most": "60"}
	dir := t.TempDir()
	var n atomic.Int64
	res := must.Get(engine.RunApart(t.Context(), func(ctx context.Context, f *engine.File) (engine.World, error) {
		c := ofWorld(filepath.Join(dir, strconv.FormatInt(n.Add(1), 10)), 20)
		if f.Calls() {
			c.SIP, c.SIPPeers = "127.0.0.1:0", engine.Trunks()
		}
		return openWorld(ctx, c)
	}, files, o))(t)
	return res
}

// ofWorld is a testbed with virtual time.
func ofWorld(dir string, boards int) testbed.Config {
	return testbed.Config{World: world.Default(7, boards), Fleet: true, Virtual: true, DataDir: dir, Control: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler)}
}

func openWorld(ctx context.Context, c testbed.Config) (w engine.World, err error) {
	tb, err := testbed.Start(ctx, c)
	if err != nil {
		return w, err
	}
	return engine.World{Stop: tb.Stop, Target: engine.Target{HTTP: tb.Ready.HTTP, Control: []string{tb.Ready.Control}, Tokens: []string{tb.Ready.ControlToken},
		Places: engine.PlacesOf(tb.Ready.Places)}}, nil
}

// mild keeps the shape of a plan and takes a part of its rate and time: the
// race detector and the other tests need the machine too. One that is gentle by
// itself stays: less of it would leave nothing in progress when the server is killed,
// and no key to be sent again.
func mild(ctx context.Context, target loadtest.Target, p loadtest.Plan, o loadtest.Options) (loadtest.Result, error) {
	p.MaxLag = loadtest.Duration(10 * time.Second)
	if p.Rate > 40 {
		p.Rate, p.Duration = p.Rate/5, p.Duration/8
	}
	return loadtest.Run(ctx, target, p, o)
}
