package firmware

import (
	"testing"

	"github.com/doorlab/doorlab/internal/wire"
)

// A record that loses its place while it is on its way is counted as lost only until the server has it.
func TestARecordThatTheServerHasIsNotLost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		acked bool
		want  int
	}{"acknowledged": {true, 0}, "never acknowledged": {false, 2}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t).online().cut()
			for range MaxRecords {
				b.present("p", "dor_1")
				b.lines, b.pubs = nil, nil
			}
			b.online()
			batch := b.published(wire.UpRec)[0].(wire.Records)
			b.present("p", "dor_1")
			b.present("p", "dor_1")
			if b.s.Dropped != 2 || b.s.Records[0].Seq != 3 {
				t.Fatalf("%d dropped, first %d, want 2 and 3", b.s.Dropped, b.s.Records[0].Seq)
			}
			b.pubs = nil
			if c.acked {
				b.step(Event{Kind: Ack, Ack: wire.Ack{Type: wire.AckRec, Seq: batch.Records[len(batch.Records)-1].Seq}})
			} else {
				b.to(b.s.resendAt())
			}
			if next := b.published(wire.UpRec)[0].(wire.Records); b.s.Dropped != c.want || next.Dropped != c.want {
				t.Errorf("%d dropped, %d in the next batch, want %d", b.s.Dropped, next.Dropped, c.want)
			}
			b.step(Event{Kind: Ack, Ack: wire.Ack{Type: wire.AckRec, Seq: batch.Records[len(batch.Records)-1].Seq}})
			if b.s.Dropped != c.want {
				t.Errorf("%d dropped after the acknowledgement came once more, want %d", b.s.Dropped, c.want)
			}
		})
	}
}

func TestFullBufferCountsWhatItDrops(t *testing.T) {
	t.Parallel()
	b := newBench(t).online().cut()
	for range MaxRecords + 3 {
		b.present("p", "dor_1")
		b.lines, b.pubs = nil, nil
	}
	if len(b.s.Records) != MaxRecords || b.s.Dropped != 3 || b.s.Records[0].Seq != 4 {
		t.Errorf("got %d buffered, %d dropped, first %d, want %d, 3 and 4", len(b.s.Records), b.s.Dropped, b.s.Records[0].Seq, MaxRecords)
	}
	b.step(Event{Kind: Connected})
	h := b.published(wire.UpHello)[0].(wire.Hello)
	if h.Buffered != MaxRecords || h.Dropped != 3 {
		t.Errorf("hello %+v, want Buffered %v and Dropped 3", h, MaxRecords)
	}
	for _, e := range b.step(Event{Kind: Present, DoorID: "dor_1", PhoneHash: "p"}) {
		if e.Kind == Persist && e.Parts != PartRecord|PartCore {
			t.Errorf("a record that takes another's place is stored as parts %b, want the count of those dropped with it", e.Parts)
		}
	}
}
