//go:build planted

package boardsim

import (
	"github.com/doorlab/doorlab/boardsim/firmware"
	"github.com/doorlab/doorlab/boardsim/planted"
	"github.com/doorlab/doorlab/internal/bug"
)

// firmwareStep is the boards' brain with the planted bug.
var firmwareStep = planted.In(bug.Planted(), firmware.Step)
