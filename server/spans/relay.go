package spans

import "time"

// mostRelays bounds what is kept for commands whose server was killed before their answer.
const mostRelays = 20_000

// expect makes Relay note the time of the relay for a command that is about to move it.
func (t *Tracer) expect(commandID string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.relays) >= mostRelays {
		clear(t.relays)
	}
	t.relays[commandID] = time.Time{}
}

// Relay notes that a board of this process moved its relay for a command. Boards in other processes can't report it:
// the protocol carries no trace.
func (t *Tracer) Relay(commandID string, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if first, traced := t.relays[commandID]; traced && first.IsZero() {
		t.relays[commandID] = at
	}
}

// moved is when the relay moved; zero if it didn't or this is unknown.
func (t *Tracer) moved(commandID string) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := t.relays[commandID]
	delete(t.relays, commandID)
	return at
}
