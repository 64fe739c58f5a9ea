package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/doorlab/doorlab/internal/report"
	"github.com/doorlab/doorlab/loadtest"
)

func judgeCommand(e *env) *cobra.Command {
	var asJSON bool
	v := &view{}
	c := &cobra.Command{
		Use:   "judge DIR",
		Short: "Judge a run directory again",
		Long: `Reads the history of a previous check or load and judges it with the checkers of this build.
The results of the steps' own assertions, and what a load measured, are kept. The run directory is not changed.`,
		Example: `  doorlab judge runs/20261121-120000-1`,
		Args:    takes("one run directory, as written by check or load", cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			if isLoad(args[0]) {
				return judgeLoad(e, v, asJSON, args[0])
			}
			res, err := report.Judge(args[0])
			if err != nil {
				return notJudged(args[0], err)
			}
			if err := (printer{v, asJSON}).print(e, res); err != nil {
				return failf("%s", err)
			}
			return exitCode(res.ExitCode())
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the verdicts as JSON on stdout instead of the table")
	v.add(c)
	return c
}

// isLoad reports whether a directory was written by load.
func isLoad(dir string) bool { return has(dir, "result.json") && !has(dir, "verdicts.json") }

// has says whether a directory has a file.
func has(dir, file string) bool {
	_, err := os.Stat(filepath.Join(dir, file))
	return err == nil
}

func judgeLoad(e *env, v *view, asJSON bool, dir string) error {
	res, err := loadtest.Judge(dir)
	switch {
	case err != nil:
		return usagef("%s can't be judged: %s", dir, reason(err))
	case asJSON:
		return resultJSON(e, res)
	}
	v.tellLoad(e, res)
	return exitCode(res.ExitCode())
}

// resultJSON prints a load's result as JSON.
func resultJSON(e *env, res loadtest.Result) error {
	b, err := json.MarshalIndent(res, "", "  ")
	if err != nil {
		return failf("%s", err)
	}
	fmt.Fprintln(e.out, string(b))
	return exitCode(res.ExitCode())
}

// notJudged says what a directory is that can't be judged.
func notJudged(dir string, err error) error {
	switch info, _ := os.Stat(dir); {
	case info != nil && !info.IsDir():
		return usagef("%s is a file; judge takes the run directory that it is in, %s", dir, filepath.Dir(dir))
	case has(dir, "verdicts.json"):
		return usagef("%s can't be judged: %s", dir, reason(err))
	case has(dir, "."):
		return usagef("%s is not a run directory: it has no verdicts.json or result.json", dir)
	}
	return usagef("%s is not a run directory: %s", dir, bare(err))
}
