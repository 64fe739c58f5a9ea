package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/plot"
	"github.com/doorlab/doorlab/internal/router"
	"github.com/doorlab/doorlab/internal/router/routertest"
	"github.com/doorlab/doorlab/internal/shard"
	"github.com/doorlab/doorlab/internal/world"
)

// TestCellsCost measures what a command costs the servers of one, two and three cells: on this machine together, with the
// same load divided among them and with the same load each; behind HAProxy with one generator; and one cell after the
// other, each with the machine to itself, as cells on machines of their own. It judges no time; make cells-cost prints the figures. TMPDIR says on which disk,
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
		router bool
	}{
		{"1,000/s each, one after the other", func(cells int) int { return 1000 * cells }, true, false},
		{"2,000/s together", func(int) int { return 2000 }, false, false}, // about what two processors make with the boards and the generators
		{"1,200/s through HAProxy", func(int) int { return 1200 }, false, true},
		{"600/s each", func(cells int) int { return 600 * cells }, false, false},
		{"300/s together", func(int) int { return 300 }, false, false},
		{"300/s through HAProxy", func(int) int { return 300 }, false, true},
		{"150/s each", func(cells int) int { return 150 * cells }, false, false},
	} {
		if only := os.Getenv("DOORLAB_CELLS_LOAD"); only != "" && only != load.name {
			continue
		}
		each := map[int][]float64{} // µs of a command, by cells
		for _, n := range []int{1, 2, 3, 3, 2, 1, 1, 2, 3} {
			t.Run(fmt.Sprintf("%s, %d cells", load.name, n), func(t *testing.T) {
				plan := filepath.Join(t.TempDir(), "plan.yaml")
				must.OK(t, os.WriteFile(plan, fmt.Appendf(nil, "rate: %d/s\nduration: %ds\nmaxLag: 10s\n", load.rate(n), seconds), 0o600))
				cpu, commits := costOf(t, n, plan, load.inTurn, load.router)
				commands := float64(load.rate(n) * seconds)
				t.Logf("%.0f µs of a processor and %.2f commits for each of %.0f commands", cpu/commands*1e6, commits/commands, commands)
				each[n] = append(each[n], cpu/commands*1e6)
			})
		}
		one := plot.Median(each[1])
		t.Logf("%s, medians: 1 cell %.0f µs, 2 cells %.0f µs (%.2f of one), 3 cells %.0f µs (%.2f of one)",
			load.name, one, plot.Median(each[2]), plot.Median(each[2])/one, plot.Median(each[3]), plot.Median(each[3])/one)
	}
}

// costOf plays a load on n cells, at the same time or one after the other, each with a generator that runs its boards, or
// behind HAProxy with one generator for all, and returns what the servers used for it: seconds of a processor, and commits.
func costOf(t *testing.T, n int, plan string, inTurn, routed bool) (cpu, commits float64) {
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
		c, m := costOfSome(t, cells, dir, file, plan, routed)
		cpu, commits = cpu+c, commits+m
	}
	return cpu, commits
}

// costOfSome is costOf for cells that run at the same time.
func costOfSome(t *testing.T, cells []shard.Shard, dir, file, plan string, routed bool) (cpu, commits float64) {
	t.Helper()
	var procs []string
	if os.Getenv("DOORLAB_CELLS_SHARE") != "" { // each cell gets its share of the processors
		procs = []string{fmt.Sprint("GOMAXPROCS=", max(1, runtime.NumCPU()/len(cells)))}
	}
	var loads sync.WaitGroup
	generate := func(part shard.Shard, http, mqtt string) {
		args := []string{"load", plan, "--quiet", "--world", file, "--target", http, "--broker", mqtt, "--out", filepath.Join(dir, fmt.Sprint("load-", part.Index))}
		if part.Of > 0 {
			args = append(args, "--shard", part.String())
		}
		loads.Go(func() {
			if out, err := command(nil, args...).CombinedOutput(); err != nil {
				t.Errorf("load of cell %s: %v\n%s", part, err, out)
			}
		})
	}
	rc := router.Config{World: must.Get(world.Load(file, 0))(t), Shards: len(cells)}
	for _, part := range cells {
		const free = "127.0.0.1:0"
		cell := startWith(t, procs, "serve", "--json", "--world", file, "--shard", part.String(), "--data", filepath.Join(dir, fmt.Sprint("cell-", part.Index)),
			"--http", free, "--mqtt", free, "--control", free, "--control-token", "t", "--trusted-proxies", "127.0.0.1")
		ready := cell.server()
		if !routed {
			generate(part, ready.HTTP, ready.MQTT)
		}
		rc.CellHTTP = append(rc.CellHTTP, strings.TrimPrefix(ready.HTTP, "http://"))
		rc.CellMQTT = append(rc.CellMQTT, strings.TrimPrefix(ready.MQTT, "tcp://"))
		rc.CellSIP = append(rc.CellSIP, "127.0.0.1:5060")
		cpu -= metric(t, ready.Control, "process_cpu_seconds_total")
		commits -= metric(t, ready.Control, "doorlab_store_commit_seconds")
		defer func() {
			cpu += metric(t, ready.Control, "process_cpu_seconds_total")
			commits += metric(t, ready.Control, "doorlab_store_commit_seconds")
			cell.kill()
		}()
	}
	if routed {
		front := routertest.Listen(t)
		front.Start(rc, nil)
		generate(shard.Shard{}, front.HTTP, front.MQTT)
	}
	loads.Wait()
	return cpu, commits
}

// metric is the value of a counter or a gauge, or how often a histogram has seen something.
func metric(t *testing.T, base, name string) float64 {
	t.Helper()
	families, err := metricsOf(base)
	if err != nil || families[name] == nil {
		t.Fatalf("%s has no %s: %v", base, name, err)
	}
	m := families[name].GetMetric()[0]
	return m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
}
