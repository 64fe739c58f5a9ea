package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/shard"
)

// deployed is one of our processes in a deployment: a service of a compose file, a container of a pod.
type deployed struct {
	args []string
	env  map[string]string
}

// accepted fails when the command line, or a setting of the environment, is none of doorlab's.
func (d deployed) accepted(t *testing.T, name string) {
	t.Helper()
	getenv := func(k string) string { return d.env[k] }
	e := &env{in: strings.NewReader(""), out: io.Discard, err: io.Discard, getenv: getenv}
	c, rest, err := newRoot(e).Find(d.args)
	if err == nil {
		err = c.ParseFlags(rest)
	}
	if err == nil {
		err = readSettings(c, e)
	}
	if err == nil && c.Args != nil {
		err = c.Args(c, c.Flags().Args())
	}
	if err != nil {
		t.Errorf("%s: doorlab %s: %v", name, strings.Join(d.args, " "), err)
	}
	for k := range d.env {
		if k == "DOORLAB_SHARD_INDEX" || k == "DOORLAB_SHARDS" || k == "DOORLAB_CONTROL_TOKEN" || k == "DOORLAB_START_AT" && d.env[k] == "" {
			continue
		}
		if !slices.ContainsFunc(flagNames(c), func(f string) bool { return variable(f) == k }) {
			t.Errorf("%s: %s is no setting of doorlab %s", name, k, c.Name())
		}
	}
}

// world is what cells, boards, generators and router have to agree on.
func (d deployed) world() string {
	value := func(flag string) string {
		if i := slices.Index(d.args, "--"+flag); i >= 0 {
			return d.args[i+1]
		}
		return d.env[variable(flag)]
	}
	return fmt.Sprintf("world %q seed %s boards %s", value("world"), value("seed"), value("boards"))
}

// wholeWorld: the processes of a kind have all shards between them, each once, of the same world.
func wholeWorld(t *testing.T, kind string, all []deployed, world string, of int) {
	t.Helper()
	seen := map[int]bool{}
	for _, d := range all {
		s, err := shard.FromEnv(func(k string) string { return d.env[k] })
		if err != nil || s.Of != of || seen[s.Index] {
			t.Errorf("%s: shard %s (%v), want each of %d once", kind, s, err, of)
		}
		if seen[s.Index] = true; d.world() != world {
			t.Errorf("%s %s: %s, the router has %s", kind, s, d.world(), world)
		}
	}
	if len(seen) != of {
		t.Errorf("%s: %d shards, want %d", kind, len(seen), of)
	}
}

var defaulted = regexp.MustCompile(`\$\{[A-Z0-9_]+:-([^}]*)\}`)

// TestComposeOfCells holds docker-compose.cells.yml against the program: every command line, and one world and
// every shard for cells, boards, generators and router.
func TestComposeOfCells(t *testing.T) {
	t.Parallel()
	const file = "../../docker-compose.cells.yml"
	b := must.Get(os.ReadFile(file))(t)
	var doc struct {
		Services map[string]struct {
			Image               string
			Entrypoint, Command []string
			Environment         map[string]string
		}
	}
	must.OK(t, yaml.Unmarshal([]byte(defaulted.ReplaceAllString(string(b), "$1")), &doc))
	ours := map[string][]deployed{} // by the command
	for _, name := range slices.Sorted(maps.Keys(doc.Services)) {
		s := doc.Services[name]
		if !strings.HasPrefix(s.Image, "doorlab:") {
			continue
		}
		d := deployed{s.Command, s.Environment}
		if len(s.Entrypoint) > 0 {
			d.args = slices.Concat(s.Entrypoint[1:], s.Command)
		}
		d.accepted(t, name)
		ours[d.args[0]] = append(ours[d.args[0]], d)
	}
	if len(ours["router"]) != 1 || len(ours["merge"]) != 1 {
		t.Fatalf("%d routers and %d merges, want one of each", len(ours["router"]), len(ours["merge"]))
	}
	router := ours["router"][0]
	n := must.Get(strconv.Atoi(router.args[slices.Index(router.args, "--shards")+1]))(t)
	for _, kind := range []string{"serve", "boards", "load"} {
		wholeWorld(t, kind, ours[kind], router.world(), n)
	}
	if tool, err := exec.LookPath("docker-compose"); err == nil {
		if out, err := exec.Command(tool, "-f", file, "config", "-q").CombinedOutput(); err != nil {
			t.Errorf("docker-compose config: %v\n%s", err, out)
		}
	}
}
