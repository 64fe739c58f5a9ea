package main

import (
	"context"
	"errors"
	"strings"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/world"
)

func loadWorld(ctx context.Context, path string, seed int64) (*world.World, error) {
	w, err := interruptible(ctx, func() (*world.World, error) { return world.Load(path, seed) })
	if _, ours := errors.AsType[exit](err); ours {
		return nil, err
	}
	if err != nil {
		return nil, usagef("--world: %s", mistakesIn(err))
	}
	return w, nil
}

// mostMistakes is how many mistakes of a world file are listed: one that a program wrote may have thousands of the same kind.
const mostMistakes = 20

// mistakesIn says what is wrong with a world file, a line for each mistake.
func mistakesIn(err error) string {
	lines := strings.Split(err.Error(), "\n")
	if len(lines) == 1 {
		return reason(err)
	}
	if n := len(lines) - mostMistakes; n > 0 {
		lines = append(lines[:mostMistakes], "and "+amount.Many(n, "more mistake"))
	}
	return strings.Join(lines, "\n")
}
