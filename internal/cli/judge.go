package cli

import (
	"github.com/spf13/cobra"

	"github.com/doorlab/doorlab/internal/report"
)

func judgeCommand(e *env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "judge DIR",
		Short: "Judge a run directory again",
		Long: `Reads the history of an earlier check and judges it by the checkers of this
build. What its steps asserted stays as it was. Changes nothing.`,
		Example: `  doorlab judge runs/20261121-120000-1`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("judge takes one run directory, as check wrote it")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			res, err := report.Judge(args[0])
			if err != nil {
				return usagef("%s is no run directory: %s", args[0], reason(err))
			}
			if err := printResult(e.out, res, asJSON); err != nil {
				return failf("%s", err)
			}
			if code := res.ExitCode(); code != OK {
				return exit{code, ""}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the verdicts as JSON on stdout in place of the table")
	return c
}
