package main

import (
	"context"
	"errors"

	"github.com/doorlab/doorlab/internal/world"
)

// loadWorld reads --world.
func loadWorld(ctx context.Context, path string, seed int64) (*world.World, error) {
	w, err := interruptible(ctx, func() (*world.World, error) { return world.Load(path, seed) })
	if _, ours := errors.AsType[exit](err); ours {
		return nil, err
	}
	if err != nil {
		return nil, usagef("--world: %s", reason(err))
	}
	return w, nil
}
