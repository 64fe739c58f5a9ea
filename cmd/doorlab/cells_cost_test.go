package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/plot"
	"github.com/doorlab/doorlab/internal/shard"
)

// TestCellsCost measures what a command costs the servers of one, two and three cells, with the same load
// together and with the same load each. It judges no time; make cells-cost prints the figures. TMPDIR says on which disk.
func TestCellsCost(t *testing.T) {
	if os.Getenv("DOORLAB_CELLS_COST") == "" {
		t.Skip("set DOORLAB_CELLS_COST=1, or run make cells-cost")
	}
	const seconds = 15
	for _, load := range []struct {
		name string
		rate func(cells int) int
	}{
		{"2,000/s together", func(int) int { return 2000 }}, // about what two processors make with the boards and the generators
		{"600/s each", func(cells int) int { return 600 * cells }},
		{"300/s together", func(int) int { return 300 }},
		{"150/s each", func(cells int) int { return 150 * cells }},
	} {
		each := map[int][]float64{} // µs of a command, by cells
		for _, n := range []int{1, 2, 3, 3, 2, 1, 1, 2, 3} {
			plan := filepath.Join(t.TempDir(), "plan.yaml")
			must.OK(t, os.WriteFile(plan, fmt.Appendf(nil, "rate: %d/s\nduration: %ds\nmaxLag: 10s\n", load.rate(n), seconds), 0o600))
			cpu, commits := costOf(t, n, plan)
			commands := float64(load.rate(n) * seconds)
			t.Logf("%s, cells: %d: %.0f µs of a processor and %.2f commits for each of %.0f commands", load.name, n, cpu/commands*1e6, commits/commands, commands)
			each[n] = append(each[n], cpu/commands*1e6)
		}
		one := plot.Median(each[1])
		t.Logf("%s, medians: 1 cell %.0f µs, 2 cells %.0f µs (%.2f of one), 3 cells %.0f µs (%.2f of one)",
			load.name, one, plot.Median(each[2]), plot.Median(each[2])/one, plot.Median(each[3]), plot.Median(each[3])/one)
	}
}

// costOf plays a load on n cells, each with a generator that runs its boards, and returns what the
// servers used for it: seconds of a processor, and commits.
func costOf(t *testing.T, n int, plan string) (cpu, commits float64) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "world.yaml")
	text := "seed: 21\nplaces:\n"
	for i := range 6 {
		text += fmt.Sprintf("  - {name: Place %d, kind: live, fleet: {boards: 50, report: {p50: 20ms, p99: 80ms}}, keys: [{name: partner}]}\n", i+1)
	}
	must.OK(t, os.WriteFile(file, []byte(text), 0o600))
	var procs []string
	if os.Getenv("DOORLAB_CELLS_SHARE") != "" { // each cell gets its share of the processors
		procs = []string{fmt.Sprint("GOMAXPROCS=", max(1, runtime.NumCPU()/n))}
	}
	var loads sync.WaitGroup
	for i := 1; i <= n; i++ {
		part := shard.Shard{Index: i, Of: n}.String()
		const free = "127.0.0.1:0"
		cell := startWith(t, procs, "serve", "--json", "--world", file, "--shard", part, "--data", filepath.Join(dir, fmt.Sprint("cell-", i)),
			"--http", free, "--mqtt", free, "--control", free, "--control-token", "t")
		ready := cell.server()
		loads.Go(func() {
			out, err := command(nil, "load", plan, "--quiet", "--world", file, "--shard", part, "--target", ready.HTTP, "--broker", ready.MQTT,
				"--out", filepath.Join(dir, fmt.Sprint("load-", i))).CombinedOutput()
			if err != nil {
				t.Errorf("load of cell %d: %v\n%s", i, err, out)
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
