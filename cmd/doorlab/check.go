package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/near"
	"github.com/doorlab/doorlab/internal/report"
	"github.com/doorlab/doorlab/scenarios/engine"
	"github.com/doorlab/doorlab/testbed"
)

// checking is what the flags of check say.
type checking struct {
	target  targetFlags
	pick    selection
	view    view
	metrics metricsFlag
	options engine.Options
	out     string
	asJSON  bool
	watch   bool
	since   string // run directory to compare with
}

func checkCommand(e *env) *cobra.Command {
	x := &checking{}
	var config string
	c := &cobra.Command{
		Use:   "check [NAME|FILE|DIR...]",
		Short: "Run scenarios and judge every guarantee",
		Long: `Runs scenario files (the built-in suite by default) in testbeds on virtual time, each
file in its own world and several at a time, or one after the other against a
running server. Prints one line per guarantee with the number that decides it, and
writes a run directory with every event, JUnit XML, JSON and an HTML report.`,
		Example: `  doorlab check                                   # the built-in suite, fleets of 1,000 boards
  doorlab check --boards 5000
  doorlab check --smoke                           # a quick subset
  doorlab check idempotency_keys                  # one built-in scenario
  doorlab check --clause OFF-2 --repeat 3         # the scenarios for one guarantee, three times
  doorlab check my-outage.yaml scenarios/         # your own scenarios
  doorlab check --watch my-outage.yaml            # ... again whenever you save the file
  doorlab check --target http://127.0.0.1:8080 --control http://127.0.0.1:8081 --control-token ... my-outage.yaml`,
		RunE: func(c *cobra.Command, args []string) error {
			o := &x.options
			if err := e.wrong(x.target.check(), x.pick.check(), guarantees("require-clause", o.Require, append(judge.Clauses(), "all")),
				atLeast("parallel", o.Parallel, 1), atLeast("timeout", o.Timeout, 0)); err != nil {
				return err
			}
			if x.watch {
				return watch(c.Context(), e, append(slices.Clip(args), x.target.world), func() error { return x.once(c, e, args) })
			}
			return x.once(c, e, args)
		},
	}
	x.target.add(c, 1000)
	c.Flags().Lookup("boards").Usage = "number of simulated boards in scenarios about fleets and, if you give this flag, in files that you name; others have up to 20 (not with --world)"
	x.pick.add(c)
	x.view.add(c)
	x.metrics.add(c)
	s, o := c.Flags(), &x.options
	s.StringVar(&config, "config", "", "YAML file whose keys are flag names")
	s.StringVar(&x.out, "out", "", "run directory (default: runs/<time>-<seed>)")
	s.BoolVar(&x.asJSON, "json", false, "print the verdicts as JSON on stdout instead of the table")
	s.BoolVar(&o.AllowHost, "allow-host", false, "allow load against a target on another machine")
	s.StringToStringVar(&o.Vars, "var", nil, "override a variable of the scenario files, `name=value`")
	s.Lookup("var").DefValue = "" // pflag would print (default [])
	s.BoolVar(&o.FailFast, "fail-fast", false, "stop at the first scenario that doesn't pass")
	s.IntVar(&o.Parallel, "parallel", 6, "how many worlds run at a time; scenarios with load always run alone")
	s.DurationVar(&o.Timeout, "timeout", 10*time.Minute, "longest time for one scenario (wall time; 0: no limit)")
	s.StringSliceVar(&o.Require, "require-clause", nil, "guarantee that must be proven, `ID` or all: the run is INVALID otherwise (repeatable; the whole built-in suite: all)")
	s.StringVar(&x.since, "baseline", "", "run directory to compare the verdicts with")
	s.BoolVar(&x.watch, "watch", false, "run again whenever one of the files, or the world file, changes")
	c.AddCommand(listCommand(e), lintCommand(e), newCommand(e))
	return c
}

// once chooses the files, plays them and prints their verdicts.
func (x *checking) once(c *cobra.Command, e *env, args []string) (err error) {
	if x.pick.part, err = x.pick.shardFlag.shard(e.getenv); err != nil {
		return err
	}
	x.pick.from = e.from
	files, err := interruptible(c.Context(), func() ([]*engine.File, error) { return x.pick.files(args) })
	if err != nil {
		return err
	}
	var was report.Result
	if x.since != "" {
		if was, err = verdictsIn("baseline", x.since); err != nil {
			return err
		}
	}
	o := x.options
	if err := knownVars(o.Vars, files); err != nil {
		return err
	}
	out := cmp.Or(x.out, filepath.Join("runs", clock.WallNow().UTC().Format("20060102-150405")+"-"+strconv.FormatInt(max(x.target.seed, 1), 10)))
	x.target.all = len(args) > 0 && c.Flags().Changed("boards")
	if x.pick.shuffle != "" && !x.view.quiet {
		fmt.Fprintf(e.err, "shuffled; --shuffle=%s repeats the order\n", x.pick.shuffle)
	}
	o.Shard = x.pick.mine(args)
	o.Whole = x.pick.whole(args) && o.Shard == nil
	s := x.view.screen(e)
	o.Seed, o.Verbose, o.Progress, o.Terminal, o.Width, o.Colors = max(x.target.seed, 1), x.target.verbose, s.W, s.Terminal, s.Width, x.view.colors(e, e.err)
	o.Metrics = engine.NewMetrics()
	end, err := x.metrics.serve(e, o.Metrics.Gatherer())
	if err != nil {
		return err
	}
	err = runCheck(c.Context(), e, &x.target, files, out, printer{&x.view, x.asJSON}, o, func(res *engine.Result) {
		if x.since != "" {
			res.Note("compared with %s: %s", x.since, report.Since(was, *res))
		}
	})
	return end(out, err)
}

// knownVars rejects a --var that no file uses, because it would change nothing.
func knownVars(given map[string]string, files []*engine.File) error {
	known := map[string]bool{}
	for _, f := range files {
		for name := range f.Doc.Vars {
			known[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if name == "" {
			return usagef("--var %q: must be name=value", "="+given[name])
		}
		if !known[name] {
			return usagef("--var %s: no scenario file has this variable%s", name, near.Hint(name, slices.Sorted(maps.Keys(known))))
		}
	}
	return nil
}

func runCheck(ctx context.Context, e *env, f *targetFlags, files []*engine.File, out string, p printer, o engine.Options, compare func(*engine.Result)) error {
	release, err := hold(out, false)
	if err != nil {
		return err
	}
	defer release()
	o.Config = f.config(ctx, files, o)
	res, err := f.play(ctx, e, files, out, o)
	if _, ours := errors.AsType[exit](err); ours {
		return err
	}
	if err != nil && ctx.Err() == nil {
		return failf("%s", err)
	}
	res.Version = build()
	compare(&res)
	return p.finish(ctx, e, out, res)
}

// play plays the files: in worlds of their own, or against the target. The error
// is ctx's, or of what kept the run from starting.
func (f *targetFlags) play(ctx context.Context, e *env, files []*engine.File, out string, o engine.Options) (engine.Result, error) {
	if f.target != "" {
		a, err := f.remote(ctx)
		if err != nil {
			return engine.Result{}, err
		}
		if err := clearOut(out); err != nil {
			return engine.Result{}, errors.Join(err, a.stop())
		}
		res, err := engine.Run(ctx, a.target(), files, o)
		return res, errors.Join(err, a.stop())
	}
	if f.world != "" { // a broken one is told before the first file starts
		if _, err := f.places(ctx, 0); err != nil {
			return engine.Result{}, err
		}
	}
	dir, cleanup, err := freshDir(f.data)
	if err != nil {
		return engine.Result{}, err
	}
	defer cleanup()
	if err := clearOut(out); err != nil {
		return engine.Result{}, err
	}
	var opened atomic.Int64
	return engine.RunApart(ctx, func(ctx context.Context, file *engine.File) (engine.World, error) {
		w, err := f.places(ctx, f.boardsFor(file))
		if err != nil {
			return engine.World{}, err
		}
		own := filepath.Join(dir, fmt.Sprintf("%03d-%s", opened.Add(1), file.Base()))
		c := testbed.Config{World: w, Virtual: true, DataDir: own}
		if file.Calls() {
			c.SIP, c.SIPPeers = "127.0.0.1:0", engine.Trunks()
		}
		a, err := f.begin(ctx, e, c)
		if err != nil {
			return engine.World{}, err
		}
		return engine.World{Target: a.target(), Stop: func() error {
			err := a.stop()
			if f.data == "" {
				err = errors.Join(err, os.RemoveAll(own))
			}
			return err
		}}, nil
	}, files, o)
}

// fewBoards is the size of the world of a scenario that isn't about a fleet.
const fewBoards = 20

// boardsFor is how many boards a file's world has.
func (f *targetFlags) boardsFor(file *engine.File) int {
	if file.Doc.Needs.Fleet || f.all {
		return f.boards
	}
	return min(f.boards, max(fewBoards, file.Doc.Needs.Boards))
}

// config is what the run directory keeps of how a run was made: what applied to it, not every flag's default. "fleet" is
// --boards, which shards must agree on; "boards" is how many the worlds have.
func (f *targetFlags) config(ctx context.Context, files []*engine.File, o engine.Options) map[string]any {
	c := map[string]any{"target": f.target, "seed": o.Seed}
	if f.target != "" {
		return c
	}
	c["link"], c["client"], c["world"], c["parallel"] = f.link, f.client, f.world, o.Parallel
	if f.world != "" {
		if w, err := f.places(ctx, 0); err == nil { // else the run says what is wrong with it
			c["boards"] = w.LiveBoards()
		}
		return c
	}
	least, most := f.boardsFor(files[0]), 0
	for _, file := range files {
		n := f.boardsFor(file)
		least, most = min(least, n), max(most, n)
	}
	c["fleet"], c["boards"] = f.boards, any(most)
	if least < most {
		c["boards"] = fmt.Sprintf("%s to %s", amount.Number(least), amount.Number(most))
	}
	return c
}

// target is what scenarios and loads use.
func (a *aim) target() engine.Target {
	return engine.Target{HTTP: a.http, Control: a.control, Tokens: a.tokens, Marks: a.marks, Ahead: a.ahead, TLS: a.trust, Places: engine.PlacesOf(a.places)}
}

// printer prints the result of a run on stdout.
type printer struct {
	*view
	asJSON bool
}

// finish writes the run directory of check or age, prints the result and returns the exit code. A run that was
// interrupted leaves what it has.
func (p printer) finish(ctx context.Context, e *env, out string, res engine.Result) error {
	var failed error
	if err := report.WriteDir(out, res); err != nil { // the verdict is still told
		failed = failf("--out: %s", reason(err))
	}
	if err := p.print(e, res); err != nil {
		return cmp.Or(failed, failf("%s", err))
	}
	if !p.quiet && failed == nil {
		fmt.Fprintf(e.err, "run directory: %s (open report.html)\n", out)
		if res.Unit == "" && slices.ContainsFunc(res.Files, func(f report.FileResult) bool { return f.Status == judge.Invalid }) {
			fmt.Fprintln(e.err, "what counts as evidence, and why a scenario is INVALID: docs/evidence.md")
		}
	}
	verdict := exitCode(res.ExitCode())
	switch {
	case ctx.Err() != nil && failed != nil:
		verdict = exit{codeInterrupted, "interrupted"}
	case ctx.Err() != nil:
		verdict = exit{codeInterrupted, "interrupted; the results so far are in " + out}
	case res.ExitCode() == codeUnreachable:
		verdict = exit{codeUnreachable, res.Reason}
	}
	return e.after(verdict, errors.Join(failed, summarize(e, func(w io.Writer) error { return report.WriteSummary(w, res) })))
}

func (p printer) print(e *env, res engine.Result) error {
	switch {
	case p.asJSON:
		return report.WriteJSON(e.out, res)
	case p.quiet:
		return report.WriteQuiet(e.out, res, p.colors(e, e.out))
	}
	return report.WriteBrief(e.out, res, p.colors(e, e.out))
}
