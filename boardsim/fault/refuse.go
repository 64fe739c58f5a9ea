package fault

import "github.com/doorlab/doorlab/internal/wire"

// refuse: the board does not act and says so. The code armed first wins.
var refuse = kind{
	name: "refuse", rank: rankRefuse,
	params: []param{{name: "code", names: wire.RefusalCodes}}, // the first, busy, is the default
	command: func(v values, _ func() float64, d *Decision) bool {
		if d.SilentBefore || d.Refuse != "" {
			return false
		}
		d.Refuse = v.text["code"]
		return true
	},
}
