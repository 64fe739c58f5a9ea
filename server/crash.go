package server

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/doorlab/doorlab/internal/near"
)

// steps of a command at which the process can be killed [CMD-6].
var steps = []string{"after-claim", "before-publish", "after-publish", "before-commit", "after-commit", "before-answer"}

// crashPoints kills the process, as SIGKILL does, at the next pass of the armed step.
type crashPoints struct{ armed atomic.Pointer[string] }

func (c *crashPoints) arm(step string) error {
	if !slices.Contains(steps, step) {
		return fmt.Errorf("must be one of %s%s", strings.Join(steps, ", "), near.Hint(step, steps))
	}
	c.armed.Store(&step)
	return nil
}

// pass is called at every step.
func (c *crashPoints) pass(step string) {
	if at := c.armed.Load(); at != nil && *at == step {
		_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
		select {} // the signal is under way: nothing after the step may happen
	}
}
