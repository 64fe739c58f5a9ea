package gateway

import (
	"bytes"
	"testing"

	"github.com/mochi-mqtt/server/v2/packets"

	"github.com/doorlab/doorlab/internal/wire"
)

// A message is written with exactly the bytes that the library would produce.
func TestPublishAsTheLibraryWrites(t *testing.T) {
	t.Parallel()
	topic := wire.Topic("brd_1", wire.DownSync)
	for _, n := range []int{0, 1, 127 - 2 - len(topic), 128 - 2 - len(topic), 16383 - 2 - len(topic), 16384 - 2 - len(topic), maxPacket} {
		payload := bytes.Repeat([]byte{'x'}, n)
		want := said(packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Publish}, TopicName: topic, Payload: payload})
		if got := appendPublish(nil, topic, payload); !bytes.Equal(got, want) {
			t.Errorf("%d bytes: the packet begins with %x and has %d bytes, want %x and %d", n, got[:min(8, len(got))], len(got), want[:min(8, len(want))], len(want))
		}
	}
}

// What is read without the library matches what the library would read, and only QoS 0 messages to a board's own
// topics are read that way.
func TestPlainUplinks(t *testing.T) {
	t.Parallel()
	publish := func(topic string, flags packets.FixedHeader, payload string) []byte {
		flags.Type = packets.Publish
		pk := packets.Packet{FixedHeader: flags, TopicName: topic, Payload: []byte(payload)}
		if flags.Qos > 0 {
			pk.PacketID = 7
		}
		return said(pk)
	}
	long := string(bytes.Repeat([]byte{'x'}, 20000))
	for _, channel := range wire.Up {
		for _, payload := range []string{"", "{}", long} {
			got, text, ok := plainUplink(publish(wire.Topic("brd_1", channel), packets.FixedHeader{}, payload), "brd_1")
			if !ok || got != channel || string(text) != payload {
				t.Errorf("%s with %d bytes: read %q with %d bytes, %t; want it as it is", channel, len(payload), got, len(text), ok)
			}
		}
	}
	for name, packet := range map[string][]byte{
		"QoS 1":                 publish("sac/v1/brd_1/rpt", packets.FixedHeader{Qos: 1}, "{}"),
		"retained":              publish("sac/v1/brd_1/rpt", packets.FixedHeader{Retain: true}, "{}"),
		"repeated":              publish("sac/v1/brd_1/rpt", packets.FixedHeader{Qos: 1, Dup: true}, "{}"),
		"another board's":       publish("sac/v1/brd_2/rpt", packets.FixedHeader{}, "{}"),
		"a longer name":         publish("sac/v1/brd_11/rpt", packets.FixedHeader{}, "{}"),
		"a shorter name":        publish("sac/v1/brd_/rpt", packets.FixedHeader{}, "{}"),
		"no channel":            publish("sac/v1/brd_1", packets.FixedHeader{}, "{}"),
		"an empty channel":      publish("sac/v1/brd_1/", packets.FixedHeader{}, "{}"),
		"a channel downwards":   publish("sac/v1/brd_1/cmd", packets.FixedHeader{}, "{}"),
		"a channel's beginning": publish("sac/v1/brd_1/rp", packets.FixedHeader{}, "{}"),
		"another version":       publish("sac/v2/brd_1/rpt", packets.FixedHeader{}, "{}"),
		"a ping":                {0xc0, 0},
		"no topic":              {0x30, 0},
		"half a length":         {0x30, 1, 0},
		"half a topic":          {0x30, 3, 0, 9, 's'},
	} {
		if channel, _, ok := plainUplink(packet, "brd_1"); ok {
			t.Errorf("%s: read as %q, want it left to the library", name, channel)
		}
	}
}
