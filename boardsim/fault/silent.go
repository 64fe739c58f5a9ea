package fault

// silent: the board neither acts nor reports.
var silent = kind{name: "silent", rank: rankSilent, command: func(_ values, _ func() float64, d *Decision) bool {
	d.SilentBefore = true
	return true
}}
