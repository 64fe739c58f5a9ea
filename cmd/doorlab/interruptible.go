package main

import "context"

// interruptible is what read returns, or an error once ctx is done. A file may be a pipe that nobody writes to; then read
// stays behind until the process ends.
func interruptible[T any](ctx context.Context, read func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := read()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, exit{codeInterrupted, "interrupted"}
	}
}
