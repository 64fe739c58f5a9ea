//go:build !planted

// Package plant holds the switch for planted bugs: each proves that a checker
// can fail. Without the build tag "planted" Is is false and costs nothing.
package plant

// Is reports whether the named bug is planted in this build and run.
func Is(string) bool { return false }
