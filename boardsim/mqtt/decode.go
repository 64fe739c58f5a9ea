package mqtt

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mochi-mqtt/server/v2/packets"
)

// maxPacket is the longest packet accepted, far above the 32 KiB of a page.
const maxPacket = 1 << 20

// errPacket ends the connection over a packet that no server may send.
var errPacket = errors.New("mqtt: invalid packet from the server")

// decode parses the packet that b begins with and returns its length; 0 = it is incomplete. Payload and reason codes
// are slices of b.
func decode(b []byte) (pk packets.Packet, n int, err error) {
	if len(b) < 2 {
		return pk, 0, nil
	}
	if err := pk.FixedHeader.Decode(b[0]); err != nil {
		return pk, 0, fmt.Errorf("%w: %w", errPacket, err)
	}
	size, at := 0, 1
	for shift := 0; ; shift += 7 {
		if at == len(b) && at < 5 {
			return pk, 0, nil
		}
		if at == 5 {
			return pk, 0, fmt.Errorf("%w: its length has more than four bytes", errPacket)
		}
		size |= int(b[at]&0x7f) << shift
		at++
		if b[at-1]&0x80 == 0 {
			break
		}
	}
	if size > maxPacket {
		return pk, 0, fmt.Errorf("%w: %d bytes are too many", errPacket, size)
	}
	if len(b)-at < size {
		return pk, 0, nil
	}
	pk.ProtocolVersion, pk.FixedHeader.Remaining = 4, size
	if err := body(&pk, b[at:at+size]); err != nil {
		return pk, 0, fmt.Errorf("%w: type %d: %w", errPacket, pk.FixedHeader.Type, err)
	}
	return pk, at + size, nil
}

// exactly has the packets of fixed length.
var exactly = map[byte]int{packets.Connack: 2, packets.Puback: 2, packets.Pubrec: 2, packets.Pubrel: 2, packets.Pubcomp: 2,
	packets.Unsuback: 2, packets.Pingresp: 0}

func body(pk *packets.Packet, b []byte) error {
	if n, ok := exactly[pk.FixedHeader.Type]; ok && n != len(b) {
		return fmt.Errorf("%d bytes, not %d", len(b), n)
	}
	switch pk.FixedHeader.Type {
	case packets.Connack:
		return pk.ConnackDecode(b)
	case packets.Publish:
		if err := pk.PublishDecode(b); err != nil {
			return err
		}
		pk.TopicName = strings.Clone(pk.TopicName) // the codec's is a slice of b
		if code := pk.PublishValidate(0); code != packets.CodeSuccess {
			return code
		}
		if pk.TopicName == "" {
			return packets.ErrProtocolViolationNoTopic
		}
		return nil
	case packets.Suback:
		return pk.SubackDecode(b)
	case packets.Pubrel:
		return pk.PubrelDecode(b)
	case packets.Pingresp, packets.Puback, packets.Pubrec, packets.Pubcomp, packets.Unsuback:
		return nil
	}
	return errors.New("only clients send it")
}
