package fault

// slow: the board waits before it acts. Several add up.
var slow = kind{name: "slow", incoming: func(p params, in *Incoming) bool {
	if in.Lost {
		return false
	}
	in.Delay += p.delay()
	return true
}}
