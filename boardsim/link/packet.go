package link

// MQTT packet types, from the first byte.
const publish = 3

func kind(first byte) byte { return first >> 4 }

// plain reports whether the packet needs no answer: a PUBLISH of QoS 0.
func plain(first byte) bool { return kind(first) == publish && first&0x06 == 0 }

// splitter finds the ends of MQTT packets in a stream. It reads only the fixed header; an invalid length makes the rest
// of the stream one endless packet.
type splitter struct {
	started bool // inside a packet
	first   byte // its first byte
	counted bool // its length is known
	broken  bool
	shift   uint8
	rest    int // of its body
}

// take returns how many bytes of b belong to the current packet, and whether it
// ends with them. b is not empty.
func (s *splitter) take(b []byte) (n int, end bool) {
	if s.broken {
		return len(b), false
	}
	if !s.started {
		*s = splitter{started: true, first: b[0]}
		n = 1
	}
	for n < len(b) && !s.counted {
		c := b[n]
		n++
		s.rest |= int(c&0x7f) << s.shift
		s.shift += 7
		s.counted = c&0x80 == 0
		if !s.counted && s.shift == 28 {
			s.broken = true
			return len(b), false
		}
	}
	if !s.counted {
		return n, false
	}
	m := min(s.rest, len(b)-n)
	s.rest -= m
	s.started = s.rest > 0
	return n + m, s.rest == 0
}
