package fault

// silent-after: the board acts and does not report. One that refuses does report.
var silentAfter = kind{name: "silent-after", rank: rankSilentAfter, command: func(_ values, _ func() float64, d *Decision) bool {
	if d.SilentBefore || d.Refuse != "" {
		return false
	}
	d.SilentAfter = true
	return true
}}
