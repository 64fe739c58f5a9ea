package fault

// lossy: messages are lost, repeated and delayed. Several stack as lines in a row do.
var lossy = kind{
	name: "lossy",
	params: []param{
		{name: "percent", def: 10, max: 100},
		{name: "duplicatePercent", max: 100},
		{name: "delayMs", max: 3600 * 1000, whole: true},
	},
	check: onlyAlone("percent"),
	line: func(v values, _ bool, l *Line) {
		l.Lossy.Percent = either(l.Lossy.Percent, v.num["percent"])
		l.Lossy.DuplicatePercent = either(l.Lossy.DuplicatePercent, v.num["duplicatePercent"])
		l.Lossy.DelayMs += int64(v.num["delayMs"])
	},
}

// either is the chance of one or the other, in percent. Exact when one is 0 or 100.
func either(a, b float64) float64 {
	return a + b - a*b/100
}
