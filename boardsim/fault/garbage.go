package fault

// garbage: bytes that are no report go up in its place.
var garbage = kind{name: "garbage", outgoing: func(p params, out *Outgoing) bool {
	raw := make([]byte, 24)
	for i := range raw {
		raw[i] = byte(p.draw() * 256)
	}
	return out.forge(raw)
}}
