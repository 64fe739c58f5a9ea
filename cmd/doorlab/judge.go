package main

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/doorlab/doorlab/internal/report"
)

func judgeCommand(e *env) *cobra.Command {
	var asJSON bool
	v := &view{}
	c := &cobra.Command{
		Use:   "judge DIR",
		Short: "Judge a run directory again",
		Long: `Reads the history of a previous check and judges it with the checkers of this build.
The results of the steps' own assertions are kept. The run directory is not changed.`,
		Example: `  doorlab judge runs/20261121-120000-1`,
		Args:    takes("one run directory, as written by check", cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := v.check(); err != nil {
				return err
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

// notJudged says what a directory is that can't be judged.
func notJudged(dir string, err error) error {
	has := func(file string) bool {
		_, err := os.Stat(filepath.Join(dir, file))
		return err == nil
	}
	switch info, _ := os.Stat(dir); {
	case info != nil && !info.IsDir():
		return usagef("%s is a file; judge takes the run directory that it is in, %s", dir, filepath.Dir(dir))
	case has("verdicts.json"):
		return usagef("%s can't be judged: %s", dir, reason(err))
	case has("result.json"):
		return usagef("%s is the run directory of a load, which was judged when it ran: see its report.html; 'doorlab merge' merges several", dir)
	case has("."):
		return usagef("%s is not a run directory of check: it has no verdicts.json", dir)
	}
	return usagef("%s is not a run directory: %s", dir, bare(err))
}
