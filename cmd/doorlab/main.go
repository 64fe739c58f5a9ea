package main

import (
	"os"

	_ "github.com/doorlab/doorlab/internal/slack" // a server wakes up less often
)

func main() { os.Exit(runUntilSignal(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)) }
