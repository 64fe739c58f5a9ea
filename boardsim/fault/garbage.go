package fault

// garbage: bytes that are no report go out in its place.
var garbage = kind{name: "garbage", rank: rankGarbage, command: func(_ values, _ func() float64, d *Decision) bool {
	return replaces(d, &d.Garbage)
}}
