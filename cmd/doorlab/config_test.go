package main

import (
	"fmt"
	"os"
	"path/filepath"
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
