package fault

// reorder: the report is sent after the board's next one.
var reorder = kind{name: "reorder", outgoing: func(_ params, out *Outgoing) bool {
	if out.Silent() {
		return false
	}
	out.Behind = true
	return true
}}
