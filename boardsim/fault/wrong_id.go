package fault

import (
	"fmt"
	"math"
)

// wrong-id: the report names a command that was never sent.
var wrongID = kind{name: "wrong-id", outgoing: func(p params, out *Outgoing) bool {
	r := out.Report
	r.CommandID = fmt.Sprintf("cmd_wrong%016x", uint64(p.draw()*math.MaxInt64))
	return out.forge(r)
}}
