// Package cli is the command line: subcommands, flags, configuration. Only main imports it.
package cli

import (
	"fmt"
	"io"
)

// Exit codes, as in spec/surface.md.
const (
	OK          = 0
	Failure     = 1
	Usage       = 2
	BadScenario = 3
	Failed      = 4
	Unreachable = 5
	Invalid     = 6
	Threshold   = 99
	Interrupted = 130
)

// Main runs one command line and returns its exit code.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	fmt.Fprintln(stderr, "doorlab: no commands yet in this build")
	return Usage
}
