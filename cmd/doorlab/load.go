package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/doorlab/doorlab/internal/certs"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/loadtest"
)

type loadFlags struct {
	targetFlags
	view       view
	metrics    metricsFlag
	flags      *pflag.FlagSet
	broker     brokerFlags
	secretFile string
	shard      shardFlag
	startAt    string
	config     string
	rate       string
	duration   time.Duration
	o          loadtest.Options
}

func loadCommand(e *env) *cobra.Command {
	f := &loadFlags{}
	c := &cobra.Command{
		Use:   "load PLAN",
		Short: "Send requests at a planned rate and judge latencies, thresholds and guarantees",
		Long: `Runs a load plan against its own testbed or a running server.
PLAN is a file, or one of the built-in plans: ` + strings.Join(loadtest.Embedded(), ", ") + `.
'load list' says what they are for, 'load new' copies one to start from.`,
		Example: `  doorlab load door-commands                      # 300 commands per second, against its own testbed
  doorlab load door-commands --rate 1000 --duration 1m
  doorlab load my-plan.yaml --boards 5000
  doorlab load ramp --target http://127.0.0.1:8080 --control http://127.0.0.1:8081 --control-token ...
  doorlab load my-plan.yaml --shard 2/3 --start-at 09:00:00Z --world stores.yaml --secret-file s --target https://doors.example.com --broker mqtts://doors.example.com:8883`,
		Args: takes(fmt.Sprintf("one plan: a file, or one of %s", strings.Join(loadtest.Embedded(), ", ")), cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			return f.run(c.Context(), e, args[0])
		},
	}
	f.targetFlags.add(c, 200)
	c.Flags().Lookup("data").Usage = "data directory of the testbed (default: temporary, removed on exit)"
	f.view.add(c)
	f.metrics.add(c)
	f.broker.add(c, "", "run the boards in this process, against this broker of the target; mqtts://host:port over TLS (default: the target has its own boards)")
	f.shard.add(c, "run as generator `i/n`: every n-th place and the matching share of the planned rate; see merge (default: DOORLAB_SHARD_INDEX and DOORLAB_SHARDS, otherwise all)")
	s := c.Flags()
	f.flags = s
	s.StringVar(&f.rate, "rate", "", "`requests` per second in place of the plan's rate, like 300 or 600/m; rate_min moves with it (default: as in the plan)")
	s.DurationVar(&f.duration, "duration", 0, "how long to send requests, in place of the plan's duration (default: as in the plan)")
	s.StringVar(&f.secretFile, "secret-file", "", "with --broker, the secret file the server runs with (default: passwords derive from the seed)")
	s.StringVar(&f.startAt, "start-at", "", "send the first request at this `time`, RFC 3339 or a time of day such as 15:04:05Z, so that generators start together (default: when ready)")
	s.StringVar(&f.config, "config", "", "YAML file whose keys are flag names")
	s.StringVar(&f.o.OutDir, "out", "", "run directory (default: runs/load-<time>)")
	s.StringVar(&f.o.Baseline, "baseline", "", "result.json of a previous run to compare with")
	s.BoolVar(&f.o.AllowHost, "allow-host", false, "allow load against a target on another machine")
	c.AddCommand(mergeCommand(e))
	c.AddCommand(planCommands(e)...)
	return c
}

// run checks the flags, then runs the plan.
func (f *loadFlags) run(ctx context.Context, e *env, file string) (err error) {
	if err := f.targetFlags.check(); err != nil {
		return err
	}
	if f.broker.url == "" && (f.secretFile != "" || f.broker.tls != (certs.Client{})) {
		return usagef("--secret-file and the --mqtt- flags are for boards in this process: they need --broker, the address of the target's MQTT broker")
	}
	if f.target != "" {
		if _, err := loadtest.CheckHost(f.target, f.o.AllowHost); err != nil {
			return usagef("--target: %s", err)
		}
	}
	if f.o.StartAt, err = startAt(f.startAt, clock.WallNow()); err != nil {
		return err
	}
	plan, err := interruptible(ctx, func() (loadtest.Plan, error) { return loadtest.Load(file) })
	var broken *loadtest.PlanError
	switch {
	case ctx.Err() != nil && err != nil:
		return err
	case errors.As(err, &broken):
		return exit{codeBadScenario, broken.Error()}
	case err != nil:
		return usagef("%s", reason(err))
	}
	if plan, err = f.override(plan); err != nil {
		return err
	}
	if fleet := plan.Fleet; fleet != nil {
		if fleet.Boards > 0 && !f.flags.Changed("boards") {
			f.boards = fleet.Boards
		}
		f.report = fleet.Report
	}
	if err := f.divide(ctx, e); err != nil {
		return err
	}
	if err := f.o.Part.Check(plan); err != nil {
		return usagef("--shard: %s", err)
	}
	f.o.OutDir = cmp.Or(f.o.OutDir, filepath.Join("runs", "load-"+clock.WallNow().UTC().Format("20060102-150405")))
	if err := f.checkBaseline(); err != nil {
		return err
	}
	release, err := hold(f.o.OutDir, true)
	if err != nil {
		return err
	}
	defer release()
	if f.broker.url != "" {
		if f.own, err = f.connect(ctx, e); err != nil {
			return err
		}
		defer f.own.stop()
	}
	f.o.Seed, f.o.Version = f.seed, build()
	f.o.Metrics = loadtest.NewMetrics()
	end, err := f.metrics.serve(e, f.o.Metrics.Gatherer())
	if err != nil {
		return err
	}
	err = runLoad(ctx, e, &f.targetFlags, &f.view, plan, f.o)
	return end(f.o.OutDir, err)
}

// override is the plan with the flags' rate and duration.
func (f *loadFlags) override(plan loadtest.Plan) (loadtest.Plan, error) {
	var rate loadtest.Rate
	if f.flags.Changed("rate") {
		if err := rate.UnmarshalText([]byte(f.rate)); err != nil {
			return plan, usagef("--rate: %s", err)
		}
		if rate == 0 {
			return plan, usagef("--rate %q: must be above 0", f.rate)
		}
	}
	if f.flags.Changed("duration") && f.duration <= 0 {
		return plan, usagef("--duration %q: must be above 0", f.duration)
	}
	other, err := plan.At(rate, loadtest.Duration(f.duration))
	if broken, ok := errors.AsType[*loadtest.PlanError](err); ok {
		return plan, usagef("%s doesn't fit the plan %s: %s", f.overridden(), plan.Name, strings.ReplaceAll(strings.Join(broken.Lines, "; "), "$.", ""))
	}
	if err != nil {
		return plan, usagef("%s: %s; change the plan itself (of a built-in plan, a copy: doorlab load new NAME --from PLAN)", f.overridden(), err)
	}
	return other, nil
}

// overridden names the flags that change the plan.
func (f *loadFlags) overridden() string {
	switch {
	case !f.flags.Changed("duration"):
		return "--rate"
	case !f.flags.Changed("rate"):
		return "--duration"
	}
	return "--rate with --duration"
}

// checkBaseline reads the earlier result, if one is named, before anything is started.
func (f *loadFlags) checkBaseline() error {
	if f.o.Baseline == "" {
		return nil
	}
	if _, err := loadtest.ReadBaseline(f.o.Baseline); err != nil {
		return usagef("--baseline: %s", reason(err))
	}
	return nil
}

func mergeCommand(e *env) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "merge DIR...",
		Short: "Merge the results of several generators into one",
		Long: `Merges the results of several generators that ran the same plan at the same time, as
'doorlab merge' does: histograms are added, not averaged, and thresholds are judged again.`,
		Example: `  doorlab load merge runs/load-a runs/load-b
  doorlab load merge runs/load-* --out runs/merged`,
		Args: takes("two or more result directories, as load wrote them", cobra.MinimumNArgs(2)),
		RunE: func(_ *cobra.Command, args []string) error {
			out = cmp.Or(out, filepath.Join("runs", "load-"+clock.WallNow().UTC().Format("20060102-150405")+"-merged"))
			if err := mergedBefore(args); err != nil {
				return err
			}
			return mergeLoads(e, &view{}, false, out, args)
		},
	}
	c.Flags().StringVar(&out, "out", "", "directory for the merged results (default: runs/load-<time>-merged)")
	return c
}

func mergeLoads(e *env, v *view, asJSON bool, out string, dirs []string) error {
	if err := leavesAlone(out, dirs); err != nil {
		return err
	}
	res, err := loadtest.MergeDirs(out, dirs...)
	switch {
	case errors.Is(err, loadtest.ErrOut):
		return failf("--out: %s", reason(err))
	case err != nil:
		return usagef("%s", reason(err))
	case asJSON:
		return resultJSON(e, res)
	}
	return e.after(exitCode(res.ExitCode()), v.printLoad(e, out, res))
}

func runLoad(ctx context.Context, e *env, f *targetFlags, v *view, plan loadtest.Plan, o loadtest.Options) error {
	f.quiet = v.quiet
	a, err := f.open(ctx, e, false)
	if err != nil {
		return err
	}
	o.Progress, o.Judge = v.screen(e), true
	if f.target == "" {
		o.Link, o.Client, o.Report = f.link, f.client, a.report
	} else if f.own != nil {
		o.Report = reportOf(f.own.world)
	}
	t := a.target()
	if len(f.control) > 0 { // a control listener tells more exactly
		t.Ahead = 0
	}
	res, err := loadtest.Run(ctx, t, plan, o)
	stopErr := a.stop()
	var unsaved error
	if errors.Is(err, loadtest.ErrOut) && ctx.Err() == nil && res.Sent > 0 { // what was measured is still told
		unsaved, err, o.OutDir = failf("--out: %s", reason(err)), nil, ""
	}
	switch {
	case ctx.Err() != nil && res.Sent > 0:
		return e.after(exit{codeInterrupted, "interrupted; the measurements so far are in " + o.OutDir}, v.printLoad(e, o.OutDir, res))
	case ctx.Err() != nil:
		return exit{codeInterrupted, "interrupted before anything was sent"}
	case errors.Is(err, loadtest.ErrHost), errors.Is(err, loadtest.ErrNoDoors), errors.Is(err, loadtest.ErrShard), errors.Is(err, loadtest.ErrNoFaults),
		errors.Is(err, loadtest.ErrScope), errors.Is(err, loadtest.ErrKey):
		return usagef("%s", err)
	case errors.Is(err, loadtest.ErrClock):
		return exit{codeInvalid, err.Error()}
	case errors.Is(err, loadtest.ErrOut):
		return failf("--out: %s", reason(err))
	case err != nil:
		return exit{codeUnreachable, err.Error()}
	}
	failed := errors.Join(unsaved, v.printLoad(e, o.OutDir, res))
	if stopErr != nil {
		failed = errors.Join(failed, failf("%s", stopErr))
	}
	verdict := exitCode(res.ExitCode())
	if res.ExitCode() == codeUnreachable {
		verdict = exit{codeUnreachable, res.Gone}
	}
	return e.after(verdict, failed)
}

func (v *view) tellLoad(e *env, res loadtest.Result) {
	if v.quiet {
		fmt.Fprintln(e.out, res.Line())
		return
	}
	fmt.Fprint(e.out, res.Text())
}

// printLoad prints the result of a load and its directory, if it has one, and appends it to a CI's job summary.
func (v *view) printLoad(e *env, dir string, res loadtest.Result) error {
	if v.tellLoad(e, res); !v.quiet && dir != "" {
		fmt.Fprintf(e.err, "run directory: %s (open report.html)\n", dir)
	}
	return summarize(e, res.WriteSummary)
}
