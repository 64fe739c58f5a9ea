package sip

import (
	"fmt"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
)

// TestPeerHasARate: an overactive peer is turned away before anything is decided.
func TestPeerHasARate(t *testing.T) {
	t.Parallel()
	d := &door{}
	s := startWith(t, d)
	now := time.Unix(0, int64(clock.Mono())).Add(time.Hour) // so that they count however slow this machine is
	for range peerCalls {
		s.rate.Allow("127.0.0.1", now)
	}
	if got := say(t, s, "r", "r", "<sip:01011112222@carrier>", ""); got != "503 Service Unavailable" || d.n.Load() != 0 {
		t.Errorf("got %q, decided %d, want 503 Service Unavailable and 0", got, d.n.Load())
	}
}

// TestOneCallerLeavesRoom: however often one number calls, the peer's other callers get through.
func TestOneCallerLeavesRoom(t *testing.T) {
	t.Parallel()
	d := &door{}
	s := startWith(t, d)
	now := time.Unix(0, int64(clock.Mono())).Add(time.Hour) // so that they count however slow this machine is
	for range callerCalls {
		s.each.Allow("127.0.0.1 01011112222", now)
	}
	for i := range peerCalls {
		if got := say(t, s, fmt.Sprint("e", i), fmt.Sprint("e", i), "<sip:01011112222@carrier>", ""); got != "503 Service Unavailable" || d.n.Load() != 0 {
			t.Fatalf("got %q, decided %d, want 503 Service Unavailable and 0", got, d.n.Load())
		}
	}
	if got := say(t, s, "o", "o", "<sip:01033334444@carrier>", ""); got != "486 Busy Here" {
		t.Errorf("another caller: %q, want 486 Busy Here", got)
	}
}
