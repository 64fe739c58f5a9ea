package device

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/wire"
)

// sim is an outcome that a partner asked for in the test place.
type sim struct {
	outcome string // "" = the board's own
	code    string
	opened  bool          // noResponse: the door opens all the same
	delay   time.Duration // the report is held back
}

const maxSimDelay = time.Minute

// simulate reads a reason of the form sim:offline, sim:refused[:code],
// sim:noResponse[:opened] or sim:delay:<ms>. Anything else is just a reason.
func simulate(r Request) sim {
	text, ok := strings.CutPrefix(r.Reason, "sim:")
	if !r.Sim || !ok {
		return sim{}
	}
	kind, arg, more := strings.Cut(text, ":")
	switch {
	case kind == "offline" && !more:
		return sim{outcome: Offline}
	case kind == "refused" && !more:
		return sim{outcome: Refused, code: "busy"}
	case kind == "refused" && slices.Contains(wire.RefusalCodes, arg):
		return sim{outcome: Refused, code: arg}
	case kind == "noResponse" && !more:
		return sim{outcome: NoResponse}
	case kind == "noResponse" && arg == "opened":
		return sim{outcome: NoResponse, opened: true}
	case kind == "delay":
		if ms, err := strconv.ParseUint(arg, 10, 31); err == nil {
			return sim{delay: min(time.Duration(ms)*time.Millisecond, maxSimDelay)}
		}
	}
	return sim{}
}
