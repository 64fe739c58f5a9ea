package firmware

import (
	"testing"

	"github.com/doorlab/doorlab/internal/wire"
)

// TestStandingsAreNumbered: what is made later has a greater number, whatever message carries it, and a reboot doesn't
// start again; a report that is sent again keeps its own.
func TestStandingsAreNumbered(t *testing.T) {
	t.Parallel()
	for name, reboot := range map[string]Event{"kept": {Kind: Reboot}, "wiped": {Kind: Reboot, Wiped: true}} {
		b, last := newBench(t).online(), int64(0)
		rises := func(what string, n int) {
			t.Helper()
			var seqs []int64
			for _, e := range b.pubs {
				switch p := e.Payload.(type) {
				case wire.Hello:
					seqs = append(seqs, p.Doors[0].Seq, p.Doors[1].Seq)
				case wire.State:
					for _, s := range p.Doors {
						seqs = append(seqs, s.Seq)
					}
				}
			}
			b.pubs = nil
			if len(seqs) != n {
				t.Errorf("%s, %s: %d standings, want %d", name, what, len(seqs), n)
			}
			for _, seq := range seqs {
				if seq <= last {
					t.Errorf("%s, %s: got number %d after %d, want a greater one", name, what, seq, last)
				}
				last = seq
			}
		}
		command := func(id string) wire.Report {
			return b.send(wire.Command{ID: id, Epoch: 7, DoorID: "dor_1", Command: "hold", Minutes: 1, NotAfterMs: 5000}, 100)
		}
		rises("hello", 2)
		first := command("cmd_a")
		b.step(Event{Kind: Leaf, DoorID: "dor_1", Action: LeafOpen})
		if first.Standing.Seq <= last {
			t.Errorf("%s: the report's number is %d, want it over %d", name, first.Standing.Seq, last)
		}
		last = first.Standing.Seq
		rises("a leaf is opened", 1)
		if again := command("cmd_a"); again.Standing.Seq != first.Standing.Seq {
			t.Errorf("%s: sent again as %d, want %d", name, again.Standing.Seq, first.Standing.Seq)
		}
		b.to(60_000)
		rises("the hold ends", 1)
		b.step(reboot)
		b.step(Event{Kind: Connected})
		rises("the board is back", 2)
	}
}

// TestTimesFollowATurnedClock: since and holdUntil are by the clock of the message that carries them.
func TestTimesFollowATurnedClock(t *testing.T) {
	t.Parallel()
	b := newBench(t).online()
	b.to(1000)
	b.command("hold", "dor_1", 10)
	b.to(5000)
	b.skew = -hour
	b.step(Event{Kind: Disconnected})
	b.pubs = nil
	b.step(Event{Kind: Connected})
	h := b.pubs[0].Payload.(wire.Hello)
	if s := h.Doors[0]; h.At != t0+5000-hour || h.At-s.Since != 4000 || *s.HoldUntil-h.At != 596_000 {
		t.Errorf("at %d: since %d, until %d, want 4 s before and 596 s after", h.At-t0, s.Since-t0, *s.HoldUntil-t0)
	}
}
