package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/router"
	"github.com/doorlab/doorlab/internal/router/routertest"
	"github.com/doorlab/doorlab/internal/shard"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/testbed"
)

const cellCount = 3

// cellsWorld has a test place and live places of four boards.
func cellsWorld(live int) string {
	text := "seed: 21\nplaces:\n  - {name: Trial, kind: test, fleet: {boards: 1}, keys: [{name: trial, sim: true}]}\n"
	for n := range live {
		text += fmt.Sprintf("  - {name: Place %d, kind: live, fleet: {boards: 4, report: {p50: 20ms, p99: 80ms}}, keys: [{name: partner}]}\n", n+1)
	}
	return text
}

// cellsOf are servers and fleets of three shards, processes each, behind HAProxy.
type cellsOf struct {
	t     *testing.T
	world *world.World
	file  string // of the world
	clock string
	front *routertest.Router
	cells [cellCount]*cellProc
}

type cellProc struct {
	serve []string // arguments, with addresses that stay over restarts
	proc  *proc
	ready testbed.Ready
	fleet testbed.FleetReady
}

// startCells runs them; the boards come through the router, too.
func startCells(t *testing.T, text, clock string) *cellsOf {
	t.Helper()
	dir := t.TempDir()
	c := &cellsOf{t: t, clock: clock, file: filepath.Join(dir, "world.yaml"), front: routertest.Listen(t)}
	must.OK(t, os.WriteFile(c.file, []byte(text), 0o600))
	c.world = must.Get(world.Load(c.file, 0))(t)
	for i := range c.cells {
		part := shard.Shard{Index: i + 1, Of: cellCount}.String()
		data := filepath.Join(dir, fmt.Sprint("cell-", i))
		begin := func(http, mqtt, control string) []string {
			return []string{"serve", "--json", "--world", c.file, "--shard", part, "--clock", clock, "--data", data, "--control-token", "t",
				"--http", http, "--mqtt", mqtt, "--control", control, "--trusted-proxies", "127.0.0.1", "--link-url", c.front.HTTP}
		}
		const free = "127.0.0.1:0"
		cell := &cellProc{proc: start(t, begin(free, free, free)...)}
		cell.ready = cell.proc.server()
		cell.serve = begin(strings.TrimPrefix(cell.ready.HTTP, "http://"), strings.TrimPrefix(cell.ready.MQTT, "tcp://"), strings.TrimPrefix(cell.ready.Control, "http://"))
		c.cells[i] = cell
	}
	c.front.Start(c.routes(), nil)
	for i, cell := range c.cells {
		cell.fleet = start(t, "boards", "--json", "--world", c.file, "--shard", shard.Shard{Index: i + 1, Of: cellCount}.String(), "--clock", clock,
			"--broker", c.front.MQTT, "--control", "127.0.0.1:0", "--control-token", "t", "--data", filepath.Join(dir, fmt.Sprint("boards-", i))).fleet()
	}
	return c
}

// routes is the router's configuration.
func (c *cellsOf) routes() router.Config {
	rc := router.Config{World: c.world, Shards: cellCount, Virtual: c.clock == "virtual", CellSIP: []string{"127.0.0.1:506{i}"}}
	for _, cell := range c.cells {
		rc.CellHTTP = append(rc.CellHTTP, strings.TrimPrefix(cell.ready.HTTP, "http://"))
		rc.CellMQTT = append(rc.CellMQTT, strings.TrimPrefix(cell.ready.MQTT, "tcp://"))
	}
	return rc
}
