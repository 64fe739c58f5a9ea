// Command doorlab is a hardware-in-the-loop simulator and load-test harness for
// unattended-store access control.
package main

import (
	"os"

	"github.com/doorlab/doorlab/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)) }
