package fault

// refuse: the board doesn't act and says so. The code armed first wins.
var refuse = kind{name: "refuse", incoming: func(p params, in *Incoming) bool {
	if in.Lost || in.Refuse != "" {
		return false
	}
	in.Refuse = p.Text["code"]
	return true
}}
