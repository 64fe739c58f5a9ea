package main

import (
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
				return usagef("%s is not a run directory: %s", args[0], reason(err))
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
