package main

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/report"
	"github.com/doorlab/doorlab/loadtest"
)

// mergeRunsCommand merges what shards of check, or generators of load, found out.
func mergeRunsCommand(e *env) *cobra.Command {
	var out string
	var asJSON bool
	v := &view{}
	c := &cobra.Command{
		Use:   "merge DIR...",
		Short: "Merge the runs of several shards into one verdict",
		Long: `Merges the run directories of all shards of one check, or of one load, into one report,
one ledger and one exit code. The result is INVALID if a shard is missing, appears twice,
is INVALID itself or belongs to another run; a FAIL stays a FAIL.

Histories stay where they are. A check's shards are judged again, one by one, and must
together exercise everything that the whole suite must. A load's histories were judged by
their generators; counts and histograms are added, and thresholds are judged again.`,
		Example: `  doorlab check --shard 1/3 --out runs/a      # on three machines
  doorlab check --shard 2/3 --out runs/b
  doorlab check --shard 3/3 --out runs/c
  doorlab merge runs/a runs/b runs/c          # on one
  doorlab load evening.yaml --shard 1/2 --start-at 09:00:00Z --out runs/evening-1   # and 2/2
  doorlab merge runs/evening-1 runs/evening-2`,
		Args: takes("the run directories of all shards, as check or load wrote them", cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			out = cmp.Or(out, filepath.Join("runs", clock.WallNow().UTC().Format("20060102-150405")+"-merged"))
			load, err := loads(args)
			if err == nil {
				err = cmp.Or(mergedBefore(args), leavesAlone(out, args))
			}
			if err != nil {
				return err
			}
			release, err := hold(out, load)
			if err != nil {
				return err
			}
			defer release()
			if load {
				return mergeLoads(e, v, asJSON, out, args)
			}
			if err := clearOut(out); err != nil {
				return err
			}
			return printer{v, asJSON}.finish(c.Context(), e, out, report.Merge(args...))
		},
	}
	c.Flags().StringVar(&out, "out", "", "run directory of the merged result (default: runs/<time>-merged)")
	c.Flags().BoolVar(&asJSON, "json", false, "print the verdicts as JSON on stdout instead of the table")
	v.add(c)
	return c
}

// leavesAlone checks that a merged result would neither replace one of the runs that it is made of, nor lie in one, nor
// have one in the folder of its scenario files.
func leavesAlone(out string, dirs []string) error {
	for _, dir := range dirs {
		if report.Within(out, dir) || report.Within(dir, filepath.Join(out, "scenarios")) {
			return usagef("--out %s: would change the run directory %s, which is to be merged; name another directory", out, dir)
		}
	}
	return nil
}

// mergedBefore refuses a merged result: its shards have the histories, not it.
func mergedBefore(dirs []string) error {
	for _, dir := range dirs {
		if of := append(report.MergedFrom(dir), loadtest.MergedFrom(dir)...); len(of) > 0 {
			return usagef("%s can't be merged: %s: %s", dir, report.ErrMerged, strings.Join(of, " "))
		}
	}
	return nil
}

// loads: the directories are of load. Those that hold nothing are what the others are.
// Error: some are of load, some of check; or none holds anything.
func loads(dirs []string) (bool, error) {
	load, check := "", ""
	for _, d := range dirs {
		if has(d, "result.json") {
			load = d
		}
		if has(d, "verdicts.json") {
			check = d
		}
	}
	if load == "" && check == "" {
		if _, err := os.Stat(dirs[0]); err != nil {
			return false, usagef("%s is not a run directory: %s", dirs[0], bare(err))
		}
		return false, usagef("%s is not a run directory: it has no verdicts.json or result.json", dirs[0])
	}
	if load != "" && check != "" {
		return false, usagef("%s was written by load and %s by check: merge the shards of one kind at a time", load, check)
	}
	return load != "", nil
}
