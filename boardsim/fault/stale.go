package fault

// stale: the report carries the epoch of an earlier connection.
var stale = kind{name: "stale", rank: rankStale, command: func(_ values, _ func() float64, d *Decision) bool {
	return replaces(d, &d.Stale)
}}
