package firmware

import (
	"errors"
	"testing"

	"github.com/doorlab/doorlab/internal/wire"
)

// A foreign broker may echo a board's own acknowledgements back to it. They don't come from the server, so they must
// not end an outage.
func TestOwnAcknowledgementIsNoContact(t *testing.T) {
	t.Parallel()
	for _, own := range []string{wire.SyncDone, wire.SyncPage, wire.SyncConfig} {
		if ev, err := Decode(wire.DownAck, []byte(`{"type":"`+own+`","revision":3}`)); !errors.Is(err, ErrEcho) {
			t.Errorf("%s: kind %d, %v; want ErrEcho", own, ev.Kind, err)
		}
	}
	for _, server := range []string{wire.AckHello, wire.AckRpt, wire.AckRec, wire.AckDigest, wire.AckPing} {
		if ev, err := Decode(wire.DownAck, []byte(`{"type":"`+server+`"}`)); err != nil || ev.Kind != Ack {
			t.Errorf("%s: kind %d, %v; want an acknowledgement", server, ev.Kind, err)
		}
	}
}
