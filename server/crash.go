package server

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/near"
	"github.com/doorlab/doorlab/server/command"
)

// crashPoints ends the server at the next pass of the armed point, see CMD-6.
type crashPoints struct{ armed atomic.Pointer[crash] }

type crash struct {
	at  command.Point
	die func()
}

// arm sets the point and how to die there. It returns an error for an unknown point.
func (c *crashPoints) arm(at string, die func()) error {
	names := each.Of(command.CrashPoints, func(p command.Point) string { return string(p) })
	if !slices.Contains(names, at) {
		return fmt.Errorf("must be one of %s%s", strings.Join(names, ", "), near.Hint(at, names))
	}
	c.armed.Store(&crash{command.Point(at), die})
	return nil
}

// disarm forgets the armed point if no command has reached it yet.
func (c *crashPoints) disarm() { c.armed.Store(nil) }

// pass is called at every point of every command; one crash per arming.
func (c *crashPoints) pass(p command.Point) {
	if a := c.armed.Load(); a != nil && a.at == p && c.armed.CompareAndSwap(a, nil) {
		a.die()
	}
}

func killProcess() {
	if me, err := os.FindProcess(os.Getpid()); err == nil {
		_ = me.Kill()
	}
	select {} // until the signal arrives: nothing after the point may happen
}
