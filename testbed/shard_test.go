package testbed

import (
	"errors"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/shard"
	"github.com/doorlab/doorlab/internal/world"
)

// keysOf maps the places in a ready line to their keys.
func keysOf(r Ready) map[string]string {
	out := map[string]string{}
	for _, p := range r.Places {
		out[p.PlaceID] = *p.APIKey
	}
	return out
}

// TestServersOfShards: servers that each have a shard of one world have all of its places between them, every place
// once and with the same keys as a single server. A shard's boards, in a separate process, connect to its server.
func TestServersOfShards(t *testing.T) {
	t.Parallel()
	const n = 3
	all := func() *world.World { return world.Default(3, 50) }
	serve := func(w *world.World) *Testbed {
		tb := must.Get(Start(t.Context(), Config{World: w, Seeded: true, DataDir: t.TempDir(), Control: "127.0.0.1:0"}))(t)
		t.Cleanup(func() { _ = tb.Stop() })
		return tb
	}
	want, got := keysOf(serve(all()).Ready), map[string]string{}
	for i := 1; i <= n; i++ {
		part := shard.Shard{Index: i, Of: n}
		tb := serve(all().Shard(part))
		for id, key := range keysOf(tb.Ready) {
			if _, twice := got[id]; twice {
				t.Errorf("the place %s has two servers, want one", id)
			}
			got[id] = key
		}
		f := must.Get(StartFleet(t.Context(), FleetConfig{World: all().Shard(part), Broker: strings.TrimPrefix(tb.Ready.MQTT, "tcp://"), DataDir: t.TempDir()}))(t)
		t.Cleanup(func() { _ = f.Stop() })
		if w := all().Shard(part).LiveBoards(); f.Ready.Boards != w || f.Ready.Shard != part.String() || tb.Ready.Shard != part.String() {
			t.Errorf("shard %s: %d boards of shard %q on a server of shard %q, want %d", part, f.Ready.Boards, f.Ready.Shard, tb.Ready.Shard, w)
		}
		for k, p := range tb.Ready.Places {
			if status := open(t, tb, k, "k"); status != http.StatusOK {
				t.Errorf("shard %s: a command in %s is answered %d, want 200", part, p.Name, status)
			}
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("the shards have the places and keys\n%v, want those of one server\n%v", got, want)
	}
}

// TestDataDirectoryOfAShard: a data directory belongs to its shard, and a refused start changes nothing.
func TestDataDirectoryOfAShard(t *testing.T) {
	t.Parallel()
	dir, boards := t.TempDir(), t.TempDir()
	second := shard.Shard{Index: 2, Of: 3}
	tb := begin(t, Config{DataDir: dir, World: world.Default(3, 50).Shard(second), Seeded: true})
	if got := open(t, tb, 0, "k"); got != http.StatusOK {
		t.Errorf("a command is answered %d, want 200", got)
	}
	broker := strings.TrimPrefix(tb.Ready.MQTT, "tcp://")
	f := must.Get(StartFleet(t.Context(), FleetConfig{World: &world.World{Seed: 3, Part: second}, Broker: broker, DataDir: boards}))(t)
	must.OK(t, errors.Join(f.Stop(), tb.Stop()))
	before := must.Get(os.ReadFile(filepath.Join(dir, labFile)))(t)
	for name, w := range map[string]*world.World{
		"another shard":          world.Default(3, 50).Shard(shard.Shard{Index: 1, Of: 3}),
		"another number of them": world.Default(3, 50).Shard(shard.Shard{Index: 2, Of: 4}),
		"the whole world":        world.Default(3, 50),
	} {
		if _, err := Start(t.Context(), Config{World: w, DataDir: dir}); !errors.Is(err, ErrOtherWorld) || !strings.Contains(err.Error(), "has shard 2/3, not ") {
			t.Errorf("%s: got %v, want ErrOtherWorld that names shard 2/3", name, err)
		}
		if _, err := StartFleet(t.Context(), FleetConfig{World: w, Broker: broker, DataDir: boards}); !errors.Is(err, ErrOtherWorld) {
			t.Errorf("boards, %s: got %v, want ErrOtherWorld", name, err)
		}
	}
	// Adding a place at the top moves all others to the next shard.
	moved := world.Default(3, 50)
	moved.Places = append([]world.Place{moved.Places[5]}, moved.Places[:5]...)
	if _, err := Start(t.Context(), Config{World: moved.Shard(second), DataDir: dir}); !errors.Is(err, ErrOtherWorld) || !strings.Contains(err.Error(), "isn't in shard 2/3") {
		t.Errorf("a world whose places moved: got %v, want ErrOtherWorld that says so", err)
	}
	if after, err := os.ReadFile(filepath.Join(dir, labFile)); err != nil || string(after) != string(before) {
		t.Errorf("after refused starts %s is %s, %v; want it as before: %s", labFile, after, err, before)
	}
	if err := begin(t, Config{DataDir: dir, World: world.Default(3, 70).Shard(second), Seeded: true}).Stop(); err != nil { // two more places
		t.Error(err)
	}
}
