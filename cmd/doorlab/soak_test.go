package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/doorlab/doorlab/internal/capture"
	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/must"
)

// The soak of the docs: DOORLAB_SOAK=30m (make soak). It is divided into six
// windows; the first is for warming up, and the others must be level.
const (
	soakBoards  = 2000
	soakPlaces  = 10
	soakBoard   = 128 << 10
	soakRate    = 300 // commands per second
	soakWindows = 6
	soakSamples = 60 // per window
	soakDrift   = 0.05
	soakFew     = 25 // goroutines and descriptors come and go with connections
)

// held is what a process holds at one moment.
type held struct {
	heap       float64 // bytes that were live at the last collection, with what the collector scans besides
	goroutines float64
	files      float64
	callers    float64 // connections of the public listener
	resident   float64
	database   float64 // bytes, without its log
	commands   float64 // that ended so far
}

// TestSoak: half an hour of load on serve and 2,000 boards in processes of their
// own. What they hold stays level, and the database grows by what
// docs/operations.md says.
func TestSoak(t *testing.T) {
	whole, err := time.ParseDuration(os.Getenv("DOORLAB_SOAK"))
	if err != nil {
		t.Skip("takes half an hour: make soak")
	}
	dir := t.TempDir()
	world, mqtt := filepath.Join(dir, "world.yaml"), freeAddr(t)
	text := "seed: 12\nplaces:\n"
	for i := range soakPlaces {
		text += fmt.Sprintf("  - {name: Soak %d, kind: live, fleet: {boards: %d, doorsPerBoard: 2}, keys: [{name: load}]}\n", i, soakBoards/soakPlaces)
	}
	must.OK(t, os.WriteFile(world, []byte(text), 0o600))
	server := start(t, "serve", "--json", "--world", world, "--data", filepath.Join(dir, "server"), "--http", freeAddr(t), "--mqtt", mqtt, "--control", freeAddr(t))
	fleet := start(t, "boards", "--json", "--world", world, "--data", filepath.Join(dir, "boards"), "--broker", mqtt, "--control", freeAddr(t))
	load, output := soakLoad(t, dir, whole, server)
	ended := make(chan error, 1)
	go func() { ended <- load.Wait() }()

	var ofServer, ofFleet []held
	tick := time.NewTicker(whole / (soakWindows * soakSamples))
	defer tick.Stop()
	for over := false; !over; {
		select {
		case err := <-ended:
			if over = true; err != nil { // a slow machine breaks the plan's thresholds, which says nothing of what is held
				t.Logf("load: %v", err)
			}
		case <-tick.C:
			ofServer = append(ofServer, holding(t, server.server().Control))
			ofFleet = append(ofFleet, holding(t, fleet.fleet().Control))
		}
	}
	_, result, _ := strings.Cut(output.String(), "latency from the scheduled send")
	t.Logf("\nload%s\nserver\n%s\nboards\n%s", result, soakTable(ofServer), soakTable(ofFleet))
	if n := len(ofServer); n < soakWindows*soakSamples*9/10 {
		t.Fatalf("got %d samples in %s: the load ended early, want at least %d", n, whole, soakWindows*soakSamples*9/10)
	}
	for _, drift := range drifts(ofServer) {
		t.Errorf("server: %s", drift)
	}
	// A board remembers its last 256 commands with their reports. At this rate that
	// takes half an hour to fill, so the boards' heap has a bound instead.
	for _, h := range ofFleet {
		if h.heap > soakBoards*soakBoard {
			t.Errorf("boards: %.0f bytes of heap, want at most %d per board", h.heap, soakBoard)
			break
		}
	}
	first, last := ofServer[0], ofServer[len(ofServer)-1]
	n := last.commands - first.commands
	if want := 0.9 * soakRate * whole.Seconds() * float64(len(ofServer)-1) / (soakWindows * soakSamples); n < want {
		t.Errorf("%.0f commands ended, want at least %.0f", n, want)
	}
	grown, says := (last.database-first.database)/n, bytesPerCommand(t)
	t.Logf("the database grew by %.0f bytes per command; docs/operations.md says %.0f", grown, says)
	if grown > 1.1*says {
		t.Errorf("the database grew by %.0f bytes per command, want at most a tenth more than %.0f", grown, says)
	}
}

// soakLoad begins the load, without a control API: as in production nothing is
// recorded for a judge.
func soakLoad(t *testing.T, dir string, whole time.Duration, server *proc) (*exec.Cmd, *capture.Text) {
	t.Helper()
	plan := filepath.Join(dir, "soak.yaml")
	text := fmt.Sprintf("name: soak\npacer: constant\nrate: %d/s\nduration: %s\ncommands: {open: 90%%, hold: 5%%, close: 5%%}\nthresholds: {errors: 0}\n", soakRate, whole)
	must.OK(t, os.WriteFile(plan, []byte(text), 0o600))
	var keys []string
	for _, p := range server.server().Places {
		keys = append(keys, *p.APIKey)
	}
	output := &capture.Text{}
	cmd := command(nil, "load", plan, "--target", server.server().HTTP, "--key", strings.Join(keys, ","), "--out", filepath.Join(dir, "load"))
	cmd.Stdout, cmd.Stderr = output, output
	must.OK(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd, output
}

// holding reads a process's metrics page.
func holding(t *testing.T, control string) (h held) {
	t.Helper()
	_, page := clienttest.Get(t, control+"/metrics")
	for line := range strings.Lines(page) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			continue
		}
		switch name {
		case "go_memstats_next_gc_bytes":
			h.heap = v / 2 // GOGC=100: the next collection is due at twice what was live
		case "go_goroutines":
			h.goroutines = v
		case "process_open_fds":
			h.files = v
		case "process_resident_memory_bytes":
			h.resident = v
		case `doorlab_store_bytes{file="database"}`:
			h.database = v
		case `doorlab_listener_connections{listener="public"}`:
			h.callers = v
		default:
			if strings.HasPrefix(name, "doorlab_commands_total{") {
				h.commands += v
			}
		}
	}
	return h
}

// windows are the values below which a share of each window lies.
func windows(list []held, share float64, value func(held) float64) (out []float64) {
	per := (len(list) + soakWindows - 1) / soakWindows
	for part := range slices.Chunk(list, max(per, 1)) {
		values := make([]float64, 0, per)
		for _, h := range part {
			values = append(values, value(h))
		}
		slices.Sort(values)
		out = append(out, values[int(share*float64(len(values)))])
	}
	return out
}

// drifts are the values that didn't stay level after the first window: each later
// one is compared with the second, by the lowest tenth. What is in progress on a
// busy machine comes on top of it and goes again; a leak lifts it. Callers keep as
// many connections open as a slow moment asks for: they are theirs, and don't
// count.
func drifts(list []held) (out []string) {
	for _, v := range []struct {
		name  string
		value func(held) float64
		few   float64
	}{
		{"heap", func(h held) float64 { return h.heap }, 1 << 20},
		{"goroutines", func(h held) float64 { return h.goroutines - h.callers }, soakFew},
		{"descriptors", func(h held) float64 { return h.files - h.callers }, soakFew},
	} {
		w := windows(list, 0.1, v.value)
		if len(w) < 3 {
			return []string{fmt.Sprintf("%d windows are too few", len(w))}
		}
		for i, got := range w[2:] {
			if base := w[1]; max(got-base, base-got) > max(soakDrift*base, v.few) {
				out = append(out, fmt.Sprintf("%s: %.0f in window %d, %.0f in window 2", v.name, got, i+3, base))
			}
		}
	}
	for i, got := range windows(list, 0.1, func(h held) float64 { return h.callers }) {
		if got > 2*soakRate { // two seconds' worth at any moment of the window
			out = append(out, fmt.Sprintf("callers' connections: %.0f in window %d, want at most %d", got, i+1, 2*soakRate))
		}
	}
	return out
}

func soakTable(list []held) string {
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "window\theap MB\tgoroutines\tdescriptors\tcallers' connections\tresident MB\tdatabase MB\tcommands\t")
	row := [][]float64{}
	for _, value := range []func(held) float64{
		func(h held) float64 { return h.heap / 1e6 }, func(h held) float64 { return h.goroutines }, func(h held) float64 { return h.files }, func(h held) float64 { return h.callers },
		func(h held) float64 { return h.resident / 1e6 }, func(h held) float64 { return h.database / 1e6 }, func(h held) float64 { return h.commands },
	} {
		row = append(row, windows(list, 0.5, value))
	}
	for i := range row[0] {
		fmt.Fprintf(table, "%d\t%.1f\t%.0f\t%.0f\t%.0f\t%.0f\t%.1f\t%.0f\t\n", i+1, row[0][i], row[1][i], row[2][i], row[3][i], row[4][i], row[5][i], row[6][i])
	}
	_ = table.Flush()
	return b.String()
}

// bytesPerCommand is what docs/operations.md says.
func bytesPerCommand(t *testing.T) float64 {
	t.Helper()
	page := must.Get(os.ReadFile("../../docs/operations.md"))(t)
	m := regexp.MustCompile(`One million commands take ([\d.]+) GB of database`).FindSubmatch(page)
	if m == nil {
		t.Fatal("docs/operations.md doesn't say what one million commands take")
	}
	gb := must.Get(strconv.ParseFloat(string(m[1]), 64))(t)
	return gb * 1000
}

// The verdict of a soak notices what grows, and takes what swings for level.
func TestSoakNotices(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		leak func(h *held, minute float64)
		want string // "" = level
	}{
		"level":                 {func(*held, float64) {}, ""},
		"five busy minutes":     {func(h *held, m float64) { h.goroutines *= 1 + 0.5*float64(int(m)/5%2)*float64(int(m*12)%2) }, ""},
		"heap swings":           {func(h *held, m float64) { h.heap *= 1 + 0.04*float64(int(m*12)%3-1) }, ""},
		"warming up":            {func(h *held, m float64) { h.heap *= min(1, 0.5+m/6) }, ""},
		"100 bytes per command": {func(h *held, m float64) { h.heap += m * 60 * soakRate * 100 }, "heap"},
		"a descriptor a second": {func(h *held, m float64) { h.files += m * 60 }, "descriptors"},
		"goroutines":            {func(h *held, m float64) { h.goroutines += m * 30 }, "goroutines"},
		"callers come and go": {func(h *held, m float64) {
			n := 500 * float64(int(m)/5%2)
			h.callers += n
			h.files += n
			h.goroutines += n
		}, ""},
		"callers are kept":  {func(h *held, m float64) { n := m * 60; h.callers += n; h.files += n; h.goroutines += n }, "callers"},
		"something is gone": {func(h *held, m float64) { h.goroutines -= max(0, m-15) * 50 }, "goroutines"},
	} {
		list := make([]held, 0, soakWindows*soakSamples)
		for i := range cap(list) {
			h := held{heap: 150e6, goroutines: 9000, files: 2100}
			c.leak(&h, 30*float64(i)/float64(cap(list)))
			list = append(list, h)
		}
		got := drifts(list)
		if (len(got) > 0) != (c.want != "") || len(got) > 0 && !strings.HasPrefix(got[0], c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
