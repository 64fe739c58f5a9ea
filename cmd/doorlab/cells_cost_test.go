package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/plot"
	"github.com/doorlab/doorlab/internal/shard"
)

// TestCellsCost measures what a command costs the servers of one, two and three cells: on this machine together, with the
// same load divided among them and with the same load each; and one cell after the other, each with the machine to itself,
// as cells on machines of their own. It judges no time; make cells-cost prints the figures. TMPDIR says on which disk,
// DOORLAB_CELLS_LOAD names one of the loads.
func TestCellsCost(t *testing.T) {
	if os.Getenv("DOORLAB_CELLS_COST") == "" {
		t.Skip("set DOORLAB_CELLS_COST=1, or run make cells-cost")
	}
	const seconds = 15
	for _, load := range []struct {
		name   string
		rate   func(cells int) int // of all cells
		inTurn bool
	}{
		{"1,000/s each, one after the other", func(cells int) int { return 1000 * cells }, true},
		{"2,000/s together", func(int) int { return 2000 }, false}, // about what two processors make with the boards and the generators
		{"600/s each", func(cells int) int { return 600 * cells }, false},
		{"300/s together", func(int) int { return 300 }, false},
		{"150/s each", func(cells int) int { return 150 * cells }, false},
	} {
		if only := os.Getenv("DOORLAB_CELLS_LOAD"); only != "" && only != load.name {
			continue
		}
		each := map[int][]float64{} // µs of a command, by cells
		for _, n := range []int{1, 2, 3, 3, 2, 1, 1, 2, 3} {
			plan := filepath.Join(t.TempDir(), "plan.yaml")
			must.OK(t, os.WriteFile(plan, fmt.Appendf(nil, "rate: %d/s\nduration: %ds\nmaxLag: 10s\n", load.rate(n), seconds), 0o600))
			cpu, commits := costOf(t, n, plan, load.inTurn)
			commands := float64(load.rate(n) * seconds)
			t.Logf("%s, cells: %d: %.0f µs of a processor and %.2f commits for each of %.0f commands", load.name, n, cpu/commands*1e6, commits/commands, commands)
			each[n] = append(each[n], cpu/commands*1e6)
		}
		one := plot.Median(each[1])
		t.Logf("%s, medians: 1 cell %.0f µs, 2 cells %.0f µs (%.2f of one), 3 cells %.0f µs (%.2f of one)",
			load.name, one, plot.Median(each[2]), plot.Median(each[2])/one, plot.Median(each[3]), plot.Median(each[3])/one)
	}
}

// costOf plays a load on n cells, at the same time or one after the other, each with a generator that runs its boards, and
// returns what the servers used for it: seconds of a processor, and commits.
func costOf(t *testing.T, n int, plan string, inTurn bool) (cpu, commits float64) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "world.yaml")
	text := "seed: 21\nplaces:\n"
	for i := range 6 {
		text += fmt.Sprintf("  - {name: Place %d, kind: live, fleet: {boards: 50, report: {p50: 20ms, p99: 80ms}}, keys: [{name: partner}]}\n", i+1)
	}
	must.OK(t, os.WriteFile(file, []byte(text), 0o600))
	var all []shard.Shard
	for i := 1; i <= n; i++ {
		all = append(all, shard.Shard{Index: i, Of: n})
	}
	atOnce := n
	if inTurn {
		atOnce = 1
	}
	for cells := range slices.Chunk(all, atOnce) {
		c, m := costOfSome(t, cells, dir, file, plan)
		cpu, commits = cpu+c, commits+m
	}
	return cpu, commits
}

// costOfSome is costOf for cells that run at the same time.
func costOfSome(t *testing.T, cells []shard.Shard, dir, world, plan string) (cpu, commits float64) {
	t.Helper()
	var procs []string
	if os.Getenv("DOORLAB_CELLS_SHARE") != "" { // each cell gets its share of the processors
		procs = []string{fmt.Sprint("GOMAXPROCS=", max(1, runtime.NumCPU()/len(cells)))}
	}
	var loads sync.WaitGroup
	for _, part := range cells {
		const free = "127.0.0.1:0"
		cell := startWith(t, procs, "serve", "--json", "--world", world, "--shard", part.String(), "--data", filepath.Join(dir, fmt.Sprint("cell-", part.Index)),
			"--http", free, "--mqtt", free, "--control", free, "--control-token", "t")
		ready := cell.server()
		loads.Go(func() {
			out, err := command(nil, "load", plan, "--quiet", "--world", world, "--shard", part.String(), "--target", ready.HTTP, "--broker", ready.MQTT,
				"--out", filepath.Join(dir, fmt.Sprint("load-", part.Index))).CombinedOutput()
			if err != nil {
				t.Errorf("load of cell %s: %v\n%s", part, err, out)
			}
		})
		cpu -= metric(t, ready.Control, "process_cpu_seconds_total")
		commits -= metric(t, ready.Control, "doorlab_store_commit_seconds")
		defer func() {
			cpu += metric(t, ready.Control, "process_cpu_seconds_total")
			commits += metric(t, ready.Control, "doorlab_store_commit_seconds")
			cell.kill()
		}()
	}
	loads.Wait()
	return cpu, commits
}

// metric is the value of a counter, or how often a histogram has seen something.
func metric(t *testing.T, base, name string) float64 {
	t.Helper()
	families, err := metricsOf(base)
	if err != nil || families[name] == nil {
		t.Fatalf("%s has no %s: %v", base, name, err)
	}
	m := families[name].GetMetric()[0]
	return m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
}
