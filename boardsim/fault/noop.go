package fault

// noop: nothing but counting the commands it matches.
var noop = kind{name: "noop", rank: rankReport, command: func(values, func() float64, *Decision) bool { return true }}
