package boardsim

import (
	"fmt"
	"time"

	"github.com/doorlab/doorlab/boardsim/fault"
	"github.com/doorlab/doorlab/boardsim/firmware"
	"github.com/doorlab/doorlab/internal/wire"
)

// reorderWait is how long a report waits for the next one to overtake it.
const reorderWait = 2 * time.Second

// pending is a report that waits to be overtaken.
type pending struct{ send func() }

// report sends a report as the faults want it. Called with mu held.
func (b *board) report(r wire.Report, d fault.Decision) {
	send := func() {
		b.distorted(r, d)
		if d.Duplicate {
			b.distorted(r, d)
		}
	}
	before := b.behind
	if d.Reorder && before == nil {
		p := &pending{send}
		b.behind = p
		b.after(reorderWait, func() {
			if b.behind == p {
				b.behind = nil
				p.send()
			}
		})
		return
	}
	send()
	if before != nil {
		b.behind = nil
		before.send()
	}
}

// distorted sends a report, or what a fault makes of it: then the true one never goes up.
func (b *board) distorted(r wire.Report, d fault.Decision) {
	id := r.CommandID
	switch {
	case d.Garbage:
		raw := make([]byte, 24)
		for i := range raw {
			raw[i] = byte(b.rng.Uint32())
		}
		if b.ses != nil && b.ses.up {
			b.sendRaw(wire.UpRpt, raw)
		}
	case d.WrongID:
		r.CommandID = fmt.Sprintf("cmd_wrong%016x", b.rng.Uint64())
		b.send(wire.UpRpt, r)
	case d.Stale:
		r.Epoch--
		b.send(wire.UpRpt, r)
	default:
		b.send(wire.UpRpt, r)
		return
	}
	b.step(firmware.Event{Kind: firmware.Forget, CommandID: id})
}
