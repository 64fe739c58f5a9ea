package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/scenarios/engine"
)

// TestEnvironmentOfARun: a report says how many boards the worlds had, not what a flag would have given to others.
func TestEnvironmentOfARun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	world := filepath.Join(dir, "w.yaml")
	must.OK(t, os.WriteFile(world, []byte("places: [{name: A, boards: [{doors: [{name: a, channel: 1}]}]}]\n"), 0o600))
	small, fleet := &engine.File{}, &engine.File{}
	fleet.Doc.Needs.Fleet = true
	for name, c := range map[string]struct {
		f     targetFlags
		files []*engine.File
		want  string // boards, fleet
	}{
		"one small world":           {targetFlags{boards: 1000}, []*engine.File{small}, "20 1000"},
		"small ones and fleets":     {targetFlags{boards: 1000}, []*engine.File{fleet, small}, "20 to 1,000 1000"},
		"fleets only":               {targetFlags{boards: 500}, []*engine.File{fleet}, "500 500"},
		"as the flag says":          {targetFlags{boards: 1000, all: true}, []*engine.File{small}, "1000 1000"},
		"fewer than usual":          {targetFlags{boards: 5}, []*engine.File{small}, "5 5"},
		"a world file":              {targetFlags{boards: 1000, world: world}, []*engine.File{small}, "1 <nil>"},
		"somebody's running target": {targetFlags{boards: 1000, target: "http://127.0.0.1:1"}, []*engine.File{small}, "<nil> <nil>"},
	} {
		got := c.f.config(t.Context(), c.files, engine.Options{Seed: 1})
		if says := fmt.Sprint(got["boards"], " ", got["fleet"]); says != c.want {
			t.Errorf("%s: boards and fleet are %q, want %q", name, says, c.want)
		}
	}
}

// TestDecimals: 010 is ten, as a flag, a variable and in a file.
func TestDecimals(t *testing.T) {
	t.Parallel()
	const want = "doorlab: --shards 10: must be 1 to 3, the number of places in the world\n"
	if code, _, errs := runQuietly(t.Context(), "router", "--boards", "020", "--shards", "010"); code != codeUsage || errs != want {
		t.Errorf("got exit %d and %q, want %d and %q", code, errs, codeUsage, want)
	}
	file := filepath.Join(t.TempDir(), "c.yaml")
	must.OK(t, os.WriteFile(file, []byte("boards: 010\nseed: 012\n"), 0o600))
	root := newRoot(&env{getenv: os.Getenv})
	c, _, err := root.Find([]string{"up"})
	must.OK(t, err)
	must.OK(t, c.ParseFlags([]string{"--config", file}))
	must.OK(t, readSettings(c, &env{getenv: func(string) string { return "" }}))
	if boards, seed := c.Flag("boards").Value.String(), c.Flag("seed").Value.String(); boards != "10" || seed != "12" {
		t.Errorf("got %s boards and seed %s, want 10 and 12", boards, seed)
	}
}

// TestEveryMistakeIsOneLine: each begins as every error does, and the source below it doesn't.
func TestEveryMistakeIsOneLine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "s.yaml")
	must.OK(t, os.WriteFile(file, []byte("nmae: x\nsteps: []\nclase: []\n"), 0o600))
	_, _, errs := runQuietly(t.Context(), "check", "lint", file)
	want := "doorlab: " + file + ":1:1: unknown key \"nmae\", did you mean \"name\"?\n    nmae: x\n    ^\n" +
		"doorlab: " + file + ":3:1: unknown key \"clase\""
	if !strings.HasPrefix(errs, want) {
		t.Errorf("got\n%s\nwant\n%s", errs, want)
	}
}

// TestEveryWrongValueOfAFile: each is told at once, with its place; of those that were given as flags, only the first.
func TestEveryWrongValueOfAFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "c.yaml")
	must.OK(t, os.WriteFile(file, []byte("boards: -5\nlink: tpc\nhttp: 5\n"), 0o600))
	at := "doorlab: --config: " + file
	want := `doorlab: --clock "vrtual": must be one of real, virtual` + "\n" +
		at + `:2:1: link "tpc": must be one of memory, tcp` + "\n" +
		at + `:3:1: http "5": must be host:port, such as 127.0.0.1:5 (port 0 picks a free one)` + "\n" +
		at + ":1:1: boards -5: must be 0 to 2000000\n"
	if code, _, errs := runQuietly(t.Context(), "up", "--config", file, "--clock", "vrtual", "--client", "pahoo"); code != codeUsage || errs != want {
		t.Errorf("got exit %d and\n%s\nwant %d and\n%s", code, errs, codeUsage, want)
	}
}

// TestShapesInConfig: a list is for flags that can be given more than once, a mapping for those of names.
func TestShapesInConfig(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "c.yaml")
	must.OK(t, os.WriteFile(file, []byte("boards: [1]\nclock: [real]\njson: {a: true}\ntrusted-proxies: {10.0.0.0/8: x}\nsip-peers: [127.0.0.1]\nretention: {audit: 90d}\n"), 0o600))
	code, _, errs := runQuietly(t.Context(), "up", "--config", file)
	want := "doorlab: --config: " + strings.Join([]string{
		file + ":1:1: boards: must be a single value, not a list", file + ":2:1: clock: must be a single value, not a list",
		file + ":3:1: json: must not be a mapping", file + ":4:1: trusted-proxies: must not be a mapping"}, "\ndoorlab: ") + "\n"
	if code != codeUsage || errs != want {
		t.Errorf("got exit %d and\n%s\nwant %d and\n%s", code, errs, codeUsage, want)
	}
}
