package fault

// silent: the board neither acts nor reports.
var silent = kind{name: "silent", incoming: func(_ params, in *Incoming) bool {
	in.Lost = true
	return true
}}
