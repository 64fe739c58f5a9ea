package server

import (
	"testing"

	"github.com/doorlab/doorlab/server/command"
)

// TestTracingOffIsFree: without a tracer, the hook that every command passes allocates nothing. It isn't parallel
// because it counts allocations.
func TestTracingOffIsFree(t *testing.T) {
	s, trail := &Server{}, &command.Trail{}
	if n := testing.AllocsPerRun(1000, func() { s.trace(command.BeforePublish, trail) }); n != 0 {
		t.Errorf("got %g allocations at each point, want 0", n)
	}
}

func BenchmarkTracingOff(b *testing.B) {
	s, trail := &Server{}, &command.Trail{}
	b.ReportAllocs()
	for b.Loop() {
		s.trace(command.BeforePublish, trail)
	}
}
