package faults

import (
	"fmt"
	"strings"

	"github.com/doorlab/doorlab/internal/near"
)

// elsewhere are the names that Toxiproxy gives to faults like ours.
var elsewhere = map[string]string{
	"latency":    `"slow" delays the board, "lossy" with delayMs the line`,
	"timeout":    `"halfopen" leaves the line open and silent, "silent" neither acts nor reports`,
	"reset_peer": `"offline" cuts the line, "flap" again and again`,
	"bandwidth":  `the nearest is "lossy" with delayMs`,
	"slicer":     `the nearest is "lossy" with delayMs`,
	"slow_close": `the nearest is "halfopen"`,
	"limit_data": `the nearest is "flap"`,
}

// Hint is what a wrong name of a fault is followed by: the fault of ours that does what Toxiproxy calls so, or the nearest
// name; "" when there is neither.
func Hint(name string) string {
	if here := elsewhere[strings.ToLower(name)]; here != "" {
		return fmt.Sprintf(" (%s)", here)
	}
	return near.Hint(name, Names())
}
