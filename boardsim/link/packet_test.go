package link

import (
	"bytes"
	"testing"

	"github.com/eclipse/paho.mqtt.golang/packets"
)

func stream() []byte {
	var b bytes.Buffer
	c := packets.NewControlPacket(packets.Connect).(*packets.ConnectPacket)
	c.ClientIdentifier, c.ProtocolName, c.ProtocolVersion = "brd", "MQTT", 4
	_ = c.Write(&b)
	for _, n := range []int{0, 1, 100, 130, 20000} {
		p := packets.NewControlPacket(packets.Publish).(*packets.PublishPacket)
		p.TopicName, p.Payload, p.Qos = "sac/v1/brd/rpt", make([]byte, n), byte(n&1)
		_ = p.Write(&b)
		_ = packets.NewControlPacket(packets.Pingreq).Write(&b)
	}
	return b.Bytes()
}

// FuzzSplitter: however a stream is cut, the splitter yields the same packets and loses nothing; where paho reads a
// packet, the splitter finds the same end.
func FuzzSplitter(f *testing.F) {
	f.Add(stream(), 1)
	f.Add(stream(), 7)
	f.Add([]byte{0x30, 0xff, 0xff, 0xff, 0xff, 0x01, 0x00}, 2)
	f.Add([]byte{0x30}, 1)
	f.Fuzz(func(t *testing.T, in []byte, step int) {
		if step < 1 {
			step = 1
		}
		whole, broken := ends(t, in, len(in)+1)
		pieces, alike := ends(t, in, step)
		if broken != alike || len(whole) != len(pieces) {
			t.Fatalf("packets end at %v as a whole and at %v in pieces, want the same", whole, pieces)
		}
		for i := range whole {
			if whole[i] != pieces[i] {
				t.Fatalf("packets end at %v as a whole and at %v in pieces, want the same", whole, pieces)
			}
		}
		r := bytes.NewReader(in)
		for _, end := range whole {
			if _, err := packets.ReadPacket(r); err != nil {
				return // framed, but not a packet
			}
			if at := len(in) - r.Len(); at != end {
				t.Fatalf("paho's packet ends at %d, ours at %d; want the same", at, end)
			}
		}
	})
}

// ends are the packet boundaries found when the stream arrives in chunks of step bytes.
func ends(t *testing.T, in []byte, step int) (out []int, broken bool) {
	var s splitter
	for at := 0; at < len(in); {
		piece := in[at:min(at+step, len(in))]
		for len(piece) > 0 {
			n, end := s.take(piece)
			if n < 1 || n > len(piece) {
				t.Fatalf("took %d of %d bytes, want at least one and no more than there are", n, len(piece))
			}
			at, piece = at+n, piece[n:]
			if end {
				out = append(out, at)
			}
		}
	}
	return out, s.broken
}
