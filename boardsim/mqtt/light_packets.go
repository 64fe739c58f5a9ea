package mqtt

import (
	"slices"
	"time"

	"github.com/mochi-mqtt/server/v2/packets"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/each"
)

// handle responds to a packet from the server.
func (l *light) handle(pk *packets.Packet) error {
	switch pk.FixedHeader.Type {
	case packets.Connack:
		l.answered(reply{kind: packets.Connack, codes: []byte{pk.ReasonCode}})
	case packets.Suback:
		if pk.PacketID == 1 {
			l.answered(reply{kind: packets.Suback, codes: slices.Clone(pk.ReasonCodes)})
		}
	case packets.Publish:
		return l.message(pk)
	case packets.Pubrel:
		delete(l.halves, pk.PacketID)
		return l.write(&packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Pubcomp}, PacketID: pk.PacketID})
	case packets.Pingresp:
		l.mu.Lock()
		l.asked = 0
		l.mu.Unlock()
	}
	return nil
}

func (l *light) answered(r reply) {
	l.mu.Lock()
	answer := l.answer
	l.answer = nil
	l.mu.Unlock()
	if answer != nil {
		answer <- r
	}
}

// message delivers a message and acknowledges it as its QoS requires. We subscribe with QoS 0, but a server may send
// more.
func (l *light) message(pk *packets.Packet) error {
	ack := packets.Packet{PacketID: pk.PacketID}
	switch pk.FixedHeader.Qos {
	case 1:
		ack.FixedHeader.Type = packets.Puback
	case 2:
		ack.FixedHeader.Type = packets.Pubrec
		if l.halves[pk.PacketID] { // again, because the PUBREC was lost
			return l.write(&ack)
		}
		each.Put(&l.halves, pk.PacketID, true)
	}
	l.cfg.Receive(pk.TopicName, pk.Payload)
	if ack.FixedHeader.Type == 0 {
		return nil
	}
	return l.write(&ack)
}

// arm sets the timer for the next ping, or for the deadline of its answer. Called with mu held.
func (l *light) arm() {
	if l.over {
		return
	}
	at := min(l.sent, l.heard) + l.cfg.KeepAlive
	if l.asked != 0 {
		at = l.asked + l.cfg.PingTimeout
	}
	l.timer = clock.WallAfter(max(at-clock.Mono(), time.Millisecond), l.tick)
}

// tick pings if either direction has been quiet for a keep-alive, as paho does.
func (l *light) tick() {
	l.mu.Lock()
	now, ping, dead := clock.Mono(), false, false
	switch {
	case l.asked != 0:
		dead = now-l.asked >= l.cfg.PingTimeout
	case now-min(l.sent, l.heard) >= l.cfg.KeepAlive:
		ping, l.asked = true, now
	}
	l.arm()
	l.mu.Unlock()
	switch {
	case dead:
		l.lost(ErrSilent)
	case ping:
		_ = l.write(&packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Pingreq}})
	}
}
