package fault

// lossy: messages are lost, repeated and delayed. Several stack like lines in series.
var lossy = kind{name: "lossy", line: func(p params, _ bool, l *Line) {
	l.Lossy.Percent = either(l.Lossy.Percent, p.Num["percent"])
	l.Lossy.DuplicatePercent = either(l.Lossy.DuplicatePercent, p.Num["duplicatePercent"])
	l.Lossy.DelayMs += int64(p.Num["delayMs"])
}}

// either is the chance of at least one of two events, in percent. It is exact if one is 0 or 100.
func either(a, b float64) float64 {
	return a + b - a*b/100
}
