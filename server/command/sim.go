package command

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/plain"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/fail"
)

// sim is an outcome that a partner asked for at the test place.
type sim struct {
	outcome vocab.Outcome // "" = the board's own
	code    string
	opened  bool          // noResponse: the door opens anyway
	delay   time.Duration // the report is held back
}

const maxSimDelay = time.Minute

// CheckReason rejects a reason with "sim:" and an unknown outcome from a key that may simulate: otherwise the door
// would open. It also rejects text that deceives people who read the record. Error: *fail.Error invalid_field
// (args.reason), listing the valid outcomes.
func CheckReason(r Request) error {
	if plain.DeceptiveText(r.Reason) {
		return fail.Invalid("args.reason", plain.ReasonOfText)
	}
	if _, ok := simulate(r); ok {
		return nil
	}
	valid := []string{"sim:offline", "sim:refused", "sim:noResponse", "sim:noResponse:opened", "sim:delay:<ms>"}
	for _, code := range wire.RefusalCodes {
		valid = append(valid, "sim:refused:"+code)
	}
	err := fail.Invalid("args.reason", "begins with sim: and must be one of "+strings.Join(valid, ", "))
	err.Details["valid"] = valid
	return err
}

// simulate parses a reason of the form sim:offline, sim:refused[:code], sim:noResponse[:opened] or sim:delay:<ms>; ok
// is false for any other reason that starts with "sim:". Any other text, and any text from a key that may not simulate,
// is just a reason.
func simulate(r Request) (_ sim, ok bool) {
	text, asks := strings.CutPrefix(r.Reason, "sim:")
	if !r.Sim || !asks {
		return sim{}, true
	}
	kind, arg, more := strings.Cut(text, ":")
	switch {
	case kind == vocab.Offline && !more:
		return sim{outcome: vocab.Offline}, true
	case kind == vocab.Refused && !more:
		return sim{outcome: vocab.Refused, code: "busy"}, true
	case kind == vocab.Refused && slices.Contains(wire.RefusalCodes, arg):
		return sim{outcome: vocab.Refused, code: arg}, true
	case kind == vocab.NoResponse && !more:
		return sim{outcome: vocab.NoResponse}, true
	case kind == vocab.NoResponse && arg == "opened":
		return sim{outcome: vocab.NoResponse, opened: true}, true
	case kind == "delay":
		if ms, err := strconv.ParseUint(arg, 10, 31); err == nil {
			return sim{delay: min(time.Duration(ms)*time.Millisecond, maxSimDelay)}, true
		}
	}
	return sim{}, false
}
