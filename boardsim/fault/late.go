package fault

// late: the board acts at once and takes its time to report; by default longer
// than the server waits. Several add up.
var late = kind{
	name: "late", rank: rankReport,
	params: spread(9000, 12000), check: spreadOK,
	command: func(v values, draw func() float64, d *Decision) bool {
		if d.SilentBefore || d.SilentAfter {
			return false
		}
		d.LateMs += v.ms(draw)
		return true
	},
}
