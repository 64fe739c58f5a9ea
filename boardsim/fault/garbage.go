package fault

// garbage: random bytes are sent instead of the report.
var garbage = kind{name: "garbage", outgoing: func(p params, out *Outgoing) bool {
	raw := make([]byte, 24)
	for i := range raw {
		raw[i] = byte(p.draw() * 256)
	}
	return out.forge(raw)
}}
