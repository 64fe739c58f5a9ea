package fault

// duplicate: what goes up goes up twice.
var duplicate = kind{name: "duplicate", outgoing: func(_ params, out *Outgoing) bool {
	if out.Silent() {
		return false
	}
	out.Messages = append(out.Messages, out.Messages[0])
	return true
}}
