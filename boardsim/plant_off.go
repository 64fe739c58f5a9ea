//go:build !planted

package boardsim

import "github.com/doorlab/doorlab/boardsim/firmware"

// firmwareStep is the boards' brain. A build with planted bugs wraps it (see internal/bug).
func firmwareStep(s firmware.State, ev firmware.Event) (firmware.State, []firmware.Effect) {
	return firmware.Step(s, ev)
}
