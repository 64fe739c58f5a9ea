package engine

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/judge"
)

// TestShortAdvance: a running clock may be moved by less than it runs meanwhile.
func TestShortAdvance(t *testing.T) {
	t.Parallel()
	const steps = `steps: [{clock: {advance: 1ms}}, {call: {path: /echo}, expect: data.n == 3}]`
	one := newFake(t)
	one.tick = 40 * time.Millisecond
	if res, out := play(t, one, steps, Options{}); res.Files[0].Status != judge.Pass {
		t.Errorf("one clock: got %s, want PASS\n%s", res.Files[0].Status, out)
	}
	server, fleet, both := twoFakes(t, 7*time.Millisecond)
	server.tick, fleet.tick = 40*time.Millisecond, 30*time.Millisecond
	var out bytes.Buffer
	res, err := Run(t.Context(), both, []*File{parse(t, steps)}, Options{Progress: &out})
	if err != nil || res.Files[0].Status != judge.Pass || server.frozen || fleet.frozen {
		t.Errorf("two clocks: got %v, frozen %v and %v; want a PASS with both running\n%s", err, server.frozen, fleet.frozen, &out)
	}
}

// TestJumpThatFails: several clocks run again even if one of them couldn't jump.
func TestJumpThatFails(t *testing.T) {
	t.Parallel()
	server, fleet, both := twoFakes(t, 0)
	fleet.stuck = true
	res, err := Run(t.Context(), both, []*File{parse(t, `steps: [{clock: {advance: 1h}}]`)}, Options{})
	if err != nil || res.Files[0].Status != judge.Blocked || !strings.Contains(res.Files[0].Reason, "is in the past") || server.frozen || fleet.frozen {
		t.Errorf("got %v, %s %q, frozen %v and %v; want the reason, and both running", err, res.Files[0].Status, res.Files[0].Reason, server.frozen, fleet.frozen)
	}
}
