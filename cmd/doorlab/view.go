package main

import (
	"cmp"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/doorlab/doorlab/internal/live"
	"github.com/doorlab/doorlab/internal/report"
)

// view is how much check and load say, and how.
type view struct {
	quiet bool // nothing but the verdict
	plain bool // no colours, and nothing is drawn over, even on a terminal
}

func (v *view) add(c *cobra.Command) {
	c.Flags().BoolVarP(&v.quiet, "quiet", "q", false, "print the verdict in one line and no progress")
	c.Flags().BoolVar(&v.plain, "plain", false, "no colours and no progress line, even on a terminal (NO_COLOR turns off the colours only)")
}

// screen is where progress is shown.
func (v *view) screen(e *env) live.Screen {
	if v.quiet {
		return live.Screen{}
	}
	return live.Screen{W: e.err, Terminal: terminal(e.err) && !v.plain, Width: columns(e.err)}
}

// colors of what is written to one of our outputs.
func (v *view) colors(e *env, w io.Writer) report.Colors {
	return report.Colors(terminal(w) && !v.plain && e.getenv("NO_COLOR") == "" && e.getenv("TERM") != "dumb")
}

// columns asks a terminal how wide it is; 0 = it doesn't say.
func columns(w io.Writer) func() int {
	f, ok := w.(*os.File)
	if !ok {
		return nil
	}
	return func() int {
		n, _, err := term.GetSize(int(f.Fd())) //nolint:gosec // a descriptor is small
		if err != nil {
			return 0
		}
		return n
	}
}

// summarize appends a job summary where a CI wants one.
func summarize(e *env, write func(io.Writer) error) error {
	path := e.getenv("GITHUB_STEP_SUMMARY")
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		err = errors.Join(write(f), f.Close())
	}
	return trouble("GITHUB_STEP_SUMMARY", err)
}

// after ends a command whose verdict stands although something failed after it: the verdict decides the exit code, and the
// failure is only told, unless there is nothing worse.
func (e *env) after(verdict, failed error) error {
	if verdict == nil || failed == nil {
		return cmp.Or(verdict, failed)
	}
	e.complain(failed.Error())
	return verdict
}
