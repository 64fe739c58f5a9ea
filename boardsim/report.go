package boardsim

import (
	"time"

	"github.com/doorlab/doorlab/boardsim/fault"
	"github.com/doorlab/doorlab/internal/wire"
)

// reorderWait is how long a report waits for the next one to overtake it.
const reorderWait = 2 * time.Second

// pending is a report waiting to be overtaken.
type pending struct{ out fault.Outgoing }

// report sends whatever the faults turned a report into. Called with mu held.
func (b *board) report(out fault.Outgoing) {
	out.Reported()
	before := b.behind
	if out.Behind && before == nil {
		p := &pending{out}
		b.behind = p
		b.after(reorderWait, func() {
			if b.behind == p {
				b.behind = nil
				b.transmit(p.out)
			}
		})
		return
	}
	b.transmit(out)
	if before != nil {
		b.behind = nil
		b.transmit(before.out)
	}
}

// transmit sends a report's messages. Called with mu held.
func (b *board) transmit(out fault.Outgoing) {
	for _, m := range out.Messages {
		if raw, bytes := m.([]byte); bytes {
			b.sendRaw(wire.UpRpt, raw)
		} else {
			b.send(wire.UpRpt, m)
		}
	}
}
