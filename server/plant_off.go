//go:build !planted

package server

// plant is where a build with planted bugs puts one in (see internal/bug); in
// any other it does nothing.
func plant[T any](part T) T { return part }
