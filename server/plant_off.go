//go:build !planted

package server

// plant is where a build with planted bugs (see internal/bug) puts one in; in this build it does nothing.
func plant[T any](part T) T { return part }
