package main

import "os"

func main() { os.Exit(runUntilSignal(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)) }
