package fault

import (
	"github.com/doorlab/doorlab/internal/vocab"
)

// silent-after: the board acts and doesn't report. A refusal is reported.
var silentAfter = kind{name: "silent-after", outgoing: func(_ params, out *Outgoing) bool {
	if out.Report.Result == vocab.Refused || out.Silent() {
		return false
	}
	out.Messages = nil
	return true
}}
