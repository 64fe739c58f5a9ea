package world

import (
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/shard"
	"github.com/doorlab/doorlab/internal/strictyaml"
)

// Load reads and resolves a world file. A seed other than 0 overrides the file's. The error gives file:line:column
// where possible.
func Load(path string, seed int64) (*World, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, b, seed)
}

// Parse is Load for bytes; name is for messages. The error lists every problem.
func Parse(name string, b []byte, seed int64) (*World, error) {
	var w World
	err := strictyaml.Decode(name, b, &w, nil, func(b *strictyaml.Binder) {
		if seed != 0 {
			w.Seed = seed
		}
		w.SeedGiven = seed != 0 || b.Has("seed")
		if !w.SeedGiven {
			w.Seed = 1
		}
		var list problems
		errors.As(w.resolve(b.Has), &list)
		field := func(p string) string { at, _, _ := strings.Cut(p, ": "); return at }
		list = slices.DeleteFunc(list, func(p string) bool { return b.FailedAt(field(p)) })
		for _, p := range list {
			b.Problem(b.ValueAt(field(p)), "%s", p)
		}
	})
	if bad, ok := errors.AsType[strictyaml.Problems](err); ok {
		return nil, errors.New(bad.Short())
	}
	return &w, nil
}

// LiveBoards counts the boards of live places, TestBoards those of test places.
func (w *World) LiveBoards() int { return w.count(Live) }

// TestBoards counts the boards of test places.
func (w *World) TestBoards() int { return w.count(Test) }

func (w *World) count(kind string) (n int) {
	for _, p := range w.Places {
		if p.Kind == kind {
			n += len(p.Boards)
		}
	}
	return n
}

// Shard keeps every n-th place, in the order of the file: the share of one of several servers, fleets or generators.
// Ids and secrets don't depend on it.
func (w *World) Shard(s shard.Shard) *World {
	out := &World{Seed: w.Seed, SeedGiven: w.SeedGiven, Part: s}
	for k, p := range w.Places {
		if s.Takes(k) {
			out.Places = append(out.Places, p)
		}
	}
	return out
}
