package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/report"
)

// mergeRunsCommand merges what shards of check, or generators of load, found out.
func mergeRunsCommand(e *env) *cobra.Command {
	var out string
	var asJSON bool
	v := &view{}
	c := &cobra.Command{
		Use:   "merge DIR...",
		Short: "Merge the runs of several shards into one verdict",
		Long: `Merges the run directories of the shards of one check into one report, one ledger and
one exit code. Histories stay where they are and are judged again, shard by shard; what
the whole suite has to show, the shards have to show together. A shard that is missing,
INVALID, there twice or from another selection makes the result INVALID.

Run directories of load are merged as by 'doorlab load merge'.`,
		Example: `  doorlab check --shard 1/3 --out runs/a      # on three machines
  doorlab check --shard 2/3 --out runs/b
  doorlab check --shard 3/3 --out runs/c
  doorlab merge runs/a runs/b runs/c          # on one`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("merge takes the run directories of all shards, as check or load wrote them")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if err := v.check(); err != nil {
				return err
			}
			if out == "" {
				out = filepath.Join("runs", clock.WallNow().UTC().Format("20060102-150405")+"-merged")
			}
			if loads(args) {
				return mergeLoads(e, out, args)
			}
			res := report.Merge(args...)
			if err := report.WriteDir(out, res); err != nil {
				return failf("%s", reason(err))
			}
			if err := (printer{v, asJSON}).print(e, res); err != nil {
				return failf("%s", err)
			}
			fmt.Fprintf(e.err, "run directory: %s (open report.html)\n", out)
			if code := res.ExitCode(); code != OK {
				return exit{code, ""}
			}
			return nil
		},
	}
	c.Flags().StringVar(&out, "out", "", "run directory of the merged result (default: runs/<time>-merged)")
	c.Flags().BoolVar(&asJSON, "json", false, "print the verdicts as JSON on stdout instead of the table")
	v.add(c)
	return c
}

// loads: all of the directories are of load.
func loads(dirs []string) bool {
	for _, d := range dirs {
		if _, err := os.Stat(filepath.Join(d, "result.json")); err != nil {
			return false
		}
	}
	return true
}
