//go:build planted

// Package plant holds the switch for planted bugs.
package plant

import "os"

var name = os.Getenv("DOORLAB_PLANT")

// Is reports whether the named bug is planted in this build and run.
func Is(bug string) bool { return name == bug }
