package world

import (
	"errors"
	"os"
	"strings"

	"github.com/doorlab/doorlab/internal/strictyaml"
)

// Load reads and resolves a world file. A seed other than 0 overrides the
// file's. The error says file:line:column where it can.
func Load(path string, seed int64) (*World, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, b, seed)
}

// Parse is Load of bytes; name is for messages. The error names every problem.
func Parse(name string, b []byte, seed int64) (*World, error) {
	var w World
	err := strictyaml.Decode(name, b, &w, nil, func(b *strictyaml.Binder) {
		if seed != 0 {
			w.Seed = seed
		}
		w.SeedGiven = w.Seed != 0
		if w.Seed == 0 {
			w.Seed = 1
		}
		if b.Failed() {
			return
		}
		var list problems
		errors.As(w.Resolve(), &list)
		for _, p := range list {
			field, _, _ := strings.Cut(p, ": ")
			b.Problem(b.ValueAt(field), "%s", p)
		}
	})
	var bad strictyaml.Problems
	if errors.As(err, &bad) {
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

// Slice keeps every n-th board, from the i-th (1-based) on: one process's share of a fleet.
func (w *World) Slice(i, n int) *World {
	if n <= 1 {
		return w
	}
	out := &World{Seed: w.Seed}
	k := 0
	for _, p := range w.Places {
		q := p
		q.Boards = nil
		for _, b := range p.Boards {
			if k%n == i-1 {
				q.Boards = append(q.Boards, b)
			}
			k++
		}
		out.Places = append(out.Places, q)
	}
	return out
}
