package fault

// skew: the board's wall clock is off by seconds and drifts by ppm. Several add up.
var skew = kind{
	name: "skew",
	params: []param{
		{name: "seconds", def: 300, min: -366 * day, max: 366 * day},
		{name: "ppm", min: -500000, max: 500000},
	},
	check: onlyAlone("seconds"),
	clock: func(v values) (seconds, ppm float64) { return v.num["seconds"], v.num["ppm"] },
}
