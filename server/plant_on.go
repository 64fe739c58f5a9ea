//go:build planted

package server

import (
	"github.com/doorlab/doorlab/internal/bug"
	"github.com/doorlab/doorlab/server/planted"
)

// plant is where a planted bug takes a part's place.
func plant[T any](part T) T { return planted.In(bug.Planted(), part) }
