package main

import (
	"github.com/doorlab/doorlab/internal/world"
)

// loadWorld reads --world.
func loadWorld(path string, seed int64) (*world.World, error) {
	w, err := world.Load(path, seed)
	if err != nil {
		return nil, usagef("--world: %s", reason(err))
	}
	return w, nil
}
