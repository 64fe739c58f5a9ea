package fault

// skew: the board's wall clock is off by seconds and drifts by ppm. Several add up.
var skew = kind{name: "skew", clock: func(p params) (seconds, ppm float64) { return p.Num["seconds"], p.Num["ppm"] }}
