package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Set by `make dist` with -ldflags -X: a build of an unpacked archive has no
// repository to ask.
var release, commit string

// version is this build's version, as the server and its metrics show it.
func version() string {
	if release != "" {
		return release
	}
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" && b.Main.Version != "(devel)" {
		return b.Main.Version
	}
	return "devel"
}

// build is the version with the commit it was built from and what it runs on.
func build() string {
	at := commit
	if b, ok := debug.ReadBuildInfo(); ok && at == "" {
		at = commitOf(b.Settings)
	}
	return fmt.Sprintf("%s (commit %s, %s, %s/%s)", version(), cmp.Or(at, "unknown"), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// commitOf is the commit that the Go tool noted, with "+changes" for a work tree that
// had some; "" when it noted none.
func commitOf(settings []debug.BuildSetting) (at string) {
	changed := false
	for _, s := range settings {
		switch s.Key {
		case "vcs.revision":
			at = s.Value[:min(12, len(s.Value))]
		case "vcs.modified":
			changed = s.Value == "true"
		}
	}
	if at != "" && changed {
		at += "+changes"
	}
	return at
}

func versionCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print version, commit and platform", Args: noArgs, Example: "  doorlab version",
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(e.out, "doorlab", build())
			return err
		},
	}
}
