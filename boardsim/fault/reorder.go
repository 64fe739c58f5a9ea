package fault

// reorder: the report goes out after the board's next one.
var reorder = kind{name: "reorder", rank: rankReport, command: func(_ values, _ func() float64, d *Decision) bool {
	return reports(d, &d.Reorder)
}}
