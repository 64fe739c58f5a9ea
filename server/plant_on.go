//go:build planted

package server

import (
	"github.com/doorlab/doorlab/internal/bug"
	"github.com/doorlab/doorlab/server/planted"
)

// plant replaces part by the planted bug's version of it, if the bug concerns this part.
func plant[T any](part T) T { return planted.In(bug.Planted(), part) }
