package fault

// slow: the board takes its time before it acts. Several add up.
var slow = kind{
	name: "slow", rank: rankAct,
	params: spread(1500, 4000), check: spreadOK,
	command: func(v values, draw func() float64, d *Decision) bool {
		if d.SilentBefore {
			return false
		}
		d.DelayMs += v.ms(draw)
		return true
	},
}
