package router_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/router"
	"github.com/doorlab/doorlab/internal/router/routertest"
	"github.com/doorlab/doorlab/internal/shard"
	"github.com/doorlab/doorlab/internal/world"
)

var update = flag.Bool("update", false, "rewrite testdata")

// builtIn is the router of three cells of the built-in world, with the command's defaults.
func builtIn() router.Config {
	return router.Config{World: world.Default(1, 40), Shards: 3, HTTP: "127.0.0.1:8080", MQTT: "127.0.0.1:1883",
		CellHTTP: []string{"cell-{i}:8080"}, CellMQTT: []string{"cell-{i}:1883"}, CellSIP: []string{"cell-{i}:5060"}}
}

// TestFilesAreThese: the files that HAProxy reads, word for word (go test ./internal/router -update).
func TestFilesAreThese(t *testing.T) {
	t.Parallel()
	files := must.Get(router.Files(builtIn()))(t)
	var b strings.Builder
	for _, f := range files {
		b.WriteString("-- " + f.Name + " --\n" + strings.ReplaceAll(f.Text, "\r\n", "\n") + "\n")
	}
	const golden = "testdata/files.txt"
	if *update {
		must.OK(t, os.WriteFile(golden, []byte(b.String()), 0o600))
	}
	want, err := os.ReadFile(golden)
	if err != nil || b.String() != string(want) {
		t.Errorf("the files differ from %s (%v); look at the difference, then run with -update. Got:\n%s", golden, err, b.String())
	}
}

// TestHAProxyTakesIt: HAProxy accepts addresses, names that must be looked up, and a single cell.
func TestHAProxyTakesIt(t *testing.T) {
	t.Parallel()
	tool := routertest.HAProxy(t)
	single := builtIn()
	single.Shards, single.CellHTTP, single.CellMQTT = 1, []string{"127.0.0.1:9001"}, []string{"127.0.0.1:9002"}
	addressed := builtIn()
	addressed.CellHTTP, addressed.CellMQTT = []string{"10.0.0.1:80", "10.0.0.2:80", "[fd00::3]:80"}, []string{"10.0.0.{i}:1883"}
	virtual := builtIn()
	virtual.Virtual = true
	for name, c := range map[string]router.Config{"virtual clocks": virtual, "names": builtIn(), "one cell": single, "addresses": addressed} {
		out, err := exec.Command(tool, "-c", "-f", filepath.Join(routertest.Write(t, c, nil), "haproxy.cfg")).CombinedOutput()
		said := strings.ReplaceAll(string(out), "could not resolve address", "") // the cells aren't running yet; that isn't a fault of our files
		if err != nil || strings.Count(said, "WARNING") != strings.Count(string(out), "could not resolve address") {
			t.Errorf("%s: got %v, want it accepted without a warning but for names that nobody answers for:\n%s", name, err, out)
		}
	}
}

// TestEachPlaceHasOneCell: every place, board and label is in its map once, with the cell that has the shard.
func TestEachPlaceHasOneCell(t *testing.T) {
	t.Parallel()
	c := builtIn()
	c.World = world.Default(1, 200)
	files := must.Get(router.Files(c))(t)
	got := map[string]string{} // entries found, by map and key
	for _, f := range files {
		for line := range strings.Lines(f.Text) {
			if key, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok && strings.HasSuffix(f.Name, ".map") {
				if _, twice := got[f.Name+key]; twice {
					t.Errorf("%s has %s twice, want once", f.Name, key)
				}
				got[f.Name+key] = value
			}
		}
	}
	want := 0
	for i := 1; i <= c.Shards; i++ {
		cell := string(rune('0' + i))
		for _, p := range c.World.Shard(shard.Shard{Index: i, Of: c.Shards}).Places {
			for key, value := range map[string]string{"places.map" + p.ID: cell, "labels.map" + shard.Label(p.ID): cell, "sip.map" + p.EntryPhone: "cell-" + cell + ":5060"} {
				if got[key] != value {
					t.Errorf("%s leads to %q, want %q", key, got[key], value)
				}
			}
			for _, b := range p.Boards {
				if got["boards.map"+b.ID] != cell {
					t.Errorf("the board %s of %s is led to cell %q, want %s", b.ID, p.ID, got["boards.map"+b.ID], cell)
				}
				for _, d := range b.Doors {
					if got["doors.map"+d.ID] != cell {
						t.Errorf("the door %s of %s is led to cell %q, want %s", d.ID, p.ID, got["doors.map"+d.ID], cell)
					}
				}
				want += len(b.Doors)
			}
			want += 3 + len(p.Boards)
		}
	}
	if len(got) != want {
		t.Errorf("the maps have %d lines, want %d", len(got), want)
	}
}

func TestWhatCannotBe(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*router.Config)
		want   string
	}{
		"no cell":             {func(c *router.Config) { c.Shards = 0 }, "must be 1 to 5"},
		"more than places":    {func(c *router.Config) { c.Shards = 6 }, "must be 1 to 5"},
		"two for one place":   {func(c *router.Config) { c.World.Places, c.Shards = c.World.Places[:1], 2 }, "must be 1: the world has one place"},
		"one address for all": {func(c *router.Config) { c.CellMQTT = []string{"cell:1883"} }, "put {i}"},
		"none":                {func(c *router.Config) { c.CellSIP = []string{} }, "none given"},
		"two for three":       {func(c *router.Config) { c.CellHTTP = []string{"a:1", "b:1"} }, "2 for 3 cells"},
	} {
		rc := builtIn()
		c.change(&rc)
		if _, err := router.Files(rc); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", name, err, c.want)
		}
	}
}

// TestNobodysRoutesAreKnown: every route that needs no token is either routed by something else in the request, or
// answers the same from every cell. New routes must be added here, and to the configuration if they are routed.
func TestNobodysRoutesAreKnown(t *testing.T) {
	t.Parallel()
	led := []string{"/core/v1/auth/apikey/token", "/core/v1/public/places/{placeId}/schedule", "/entry", "/entry/open", "/entry/qr.png", "/entry/qr.svg"}
	same := []string{"/livez", "/readyz", "/version"}
	for _, name := range []string{"core", "space", "device"} {
		same = append(same, "/"+name+"/v1/openapi.json", "/"+name+"/v1/docs")
		b := must.Get(os.ReadFile("../../server/api/openapi/" + name + ".yaml"))(t)
		var doc struct {
			Paths map[string]map[string]struct {
				Scope string `yaml:"x-required-scope"`
			} `yaml:"paths"`
		}
		if err := yaml.Unmarshal(b, &doc); err != nil || len(doc.Paths) == 0 {
			t.Fatalf("%s.yaml: %v, %d paths", name, err, len(doc.Paths))
		}
		for path, methods := range doc.Paths {
			for method, op := range methods {
				if op.Scope == "none" && !slices.Contains(led, path) && !slices.Contains(same, path) {
					t.Errorf("%s %s needs no token, but the test doesn't say which cell gets it", method, path)
				}
			}
		}
	}
}

// TestPageLooksLikeTheEntryPage: its style sheet equals the entry page's.
func TestPageLooksLikeTheEntryPage(t *testing.T) {
	t.Parallel()
	css := must.Get(os.ReadFile("../../server/api/pages/entry.css"))(t)
	page, err := os.ReadFile("unavailable.html")
	if err != nil || !strings.Contains(string(page), "<style>"+string(css)+"</style>") {
		t.Errorf("the style of unavailable.html isn't that of the entry page (%v): copy server/api/pages/entry.css into it", err)
	}
}
