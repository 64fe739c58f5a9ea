package fault

// duplicate: everything is sent twice.
var duplicate = kind{name: "duplicate", outgoing: func(_ params, out *Outgoing) bool {
	if out.Silent() {
		return false
	}
	out.Messages = append(out.Messages, out.Messages[0])
	return true
}}
