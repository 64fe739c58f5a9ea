package fault

// late: the board acts at once and waits before it reports. Several add up.
var late = kind{name: "late", outgoing: func(p params, out *Outgoing) bool {
	if out.Silent() {
		return false
	}
	out.Delay += p.delay()
	return true
}}
