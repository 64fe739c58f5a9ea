package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/loadtest"
)

func loadCommand(e *env) *cobra.Command {
	f, v := &targetFlags{}, &view{}
	var out, config, baseline string
	var allow bool
	c := &cobra.Command{
		Use:   "load PLAN",
		Short: "Load-test door commands",
		Long: `Runs a load plan against a testbed of its own or a running server.
PLAN is a file, or one of the built-in plans: ` + strings.Join(loadtest.Embedded(), ", ") + ".",
		Example: `  doorlab load door-commands                      # 300 commands per second, against its own testbed
  doorlab load my-plan.yaml --boards 5000
  doorlab load ramp --target http://127.0.0.1:8080 --control http://127.0.0.1:8081 --control-token ...`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("load takes one plan: a file, or one of %s", strings.Join(loadtest.Embedded(), ", "))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if err := readSettings(c, e); err != nil {
				return err
			}
			if err := errors.Join(f.check(), v.check()); err != nil {
				return err
			}
			if f.target != "" {
				if err := loadtest.CheckHost(f.target, allow); err != nil {
					return usagef("--target: %s; see --allow-host", err)
				}
			}
			plan, err := loadtest.Load(args[0])
			var broken *loadtest.PlanError
			switch {
			case errors.As(err, &broken):
				return exit{BadScenario, broken.Error()}
			case err != nil:
				return usagef("%s", reason(err))
			}
			return runLoad(c.Context(), e, f, v, plan, loadtest.Options{Seed: f.seed, AllowHost: allow, OutDir: out, Baseline: baseline})
		},
	}
	f.add(c, 200)
	v.add(c)
	c.Flags().StringVar(&config, "config", "", "YAML file whose keys are flag names")
	c.Flags().StringVar(&out, "out", "", "directory for the results (default: runs/load-<time>)")
	c.Flags().StringVar(&baseline, "baseline", "", "result.json of a previous run to compare with")
	c.Flags().BoolVar(&allow, "allow-host", false, "allow load against a target on another machine")
	c.AddCommand(mergeCommand(e))
	return c
}

func mergeCommand(e *env) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "merge DIR...",
		Short: "Merge the results of several generators into one",
		Long: `Merges the results of several load runs that ran the same plan at the same time:
histograms are added, not averaged, and the thresholds judged again.`,
		Example: `  doorlab load merge runs/load-a runs/load-b
  doorlab load merge runs/load-* --out runs/merged`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usagef("load merge takes two or more result directories, as load wrote them")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if out == "" {
				out = filepath.Join("runs", "load-"+clock.WallNow().UTC().Format("20060102-150405")+"-merged")
			}
			return mergeLoads(e, out, args)
		},
	}
	c.Flags().StringVar(&out, "out", "", "directory for the merged results (default: runs/load-<time>-merged)")
	return c
}

func mergeLoads(e *env, out string, dirs []string) error {
	res, err := loadtest.MergeDirs(out, dirs...)
	if err != nil {
		return usagef("%s", reason(err))
	}
	fmt.Fprint(e.out, res.Text())
	fmt.Fprintf(e.err, "results: %s (open report.html)\n", out)
	if code := res.ExitCode(); code != 0 {
		return exit{code, ""}
	}
	return nil
}

func runLoad(ctx context.Context, e *env, f *targetFlags, v *view, plan loadtest.Plan, o loadtest.Options) error {
	a, err := f.open(ctx, e, false)
	if err != nil {
		return err
	}
	if o.OutDir == "" {
		o.OutDir = filepath.Join("runs", "load-"+clock.WallNow().UTC().Format("20060102-150405"))
	}
	o.Progress, o.Judge = v.screen(e), true
	t := loadtest.Target{HTTP: a.http, Control: a.control, Tokens: a.tokens, Marks: a.marks, TLS: a.trust}
	if len(a.tokens) > 0 {
		t.ControlToken = a.tokens[0]
	}
	for _, p := range a.places {
		t.Places = append(t.Places, loadtest.Place{PlaceID: p.PlaceID, Name: p.Name, Kind: p.Kind, APIKey: *p.APIKey})
	}
	res, err := loadtest.Run(ctx, t, plan, o)
	stopErr := a.stop()
	switch {
	case ctx.Err() != nil && res.Sent > 0:
		err := v.printLoad(e, o.OutDir, res)
		return errors.Join(err, exit{Interrupted, "interrupted; the measurements so far are in " + o.OutDir})
	case ctx.Err() != nil:
		return exit{Interrupted, "interrupted; the measurements so far are in " + o.OutDir}
	case errors.Is(err, loadtest.ErrHost), errors.Is(err, loadtest.ErrNoDoors):
		return usagef("%s", err)
	case err != nil:
		return exit{Unreachable, err.Error()}
	case stopErr != nil:
		return failf("%s", stopErr)
	}
	if err := v.printLoad(e, o.OutDir, res); err != nil {
		return err
	}
	if code := res.ExitCode(); code != 0 {
		return exit{code, ""}
	}
	return nil
}

// printLoad prints the result of a load, and appends it to a CI's job summary.
func (v *view) printLoad(e *env, dir string, res loadtest.Result) error {
	if v.quiet {
		fmt.Fprintf(e.out, "%s · %s: %s\n", res.Verdict, res.Plan.Name, res.Sentence())
	} else {
		fmt.Fprint(e.out, res.Text())
		fmt.Fprintf(e.err, "results: %s (open report.html)\n", dir)
	}
	return summarize(e, res.WriteSummary)
}
