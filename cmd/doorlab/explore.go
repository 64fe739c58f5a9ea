package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/scenarios/engine"
	"github.com/doorlab/doorlab/scenarios/explore"
	"github.com/doorlab/doorlab/testbed"
)

type exploreFlags struct {
	explore.Config
	out string
}

func exploreCommand(e *env) *cobra.Command {
	f, v := &exploreFlags{}, &view{}
	c := &cobra.Command{
		Use:   "explore",
		Short: "Look for broken guarantees with random sequences",
		Long: `Runs random sequences of permits, people, commands, time, faults, reboots, restarts,
windows and outage policies, each in its own world on virtual time, and compares
every answer, record, event and relay movement with a model of the contract. A sequence
that fails is shortened and written as a scenario file that 'doorlab check' can run.
The same seed generates the same sequences.`,
		Example: `  doorlab explore --seed 7 --for 10m
  doorlab explore --seed 7 --sequences 200 --out found
  doorlab check --boards 2 found/explore-7-31.yaml   # run again what was found`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			if f.For == 0 && c.Flags().Changed("for") {
				return usagef("--for %s: must be above 0", f.For)
			}
			if f.For == 0 && f.Sequences == 0 && f.Steps == 0 {
				f.For = time.Minute
			}
			if err := writableOut(f.out); err != nil {
				return err
			}
			f.Screen = v.screen(e)
			return runExplore(c.Context(), e, f)
		},
	}
	s := c.Flags()
	s.Int64Var(&f.Seed, "seed", 1, "seed of the sequences")
	s.DurationVar(&f.For, "for", 0, "how long to look (default: 1m, or as long as --sequences or --operations take)")
	s.IntVar(&f.Sequences, "sequences", 0, "run at most this many sequences (0: no limit)")
	s.IntVar(&f.Steps, "operations", 0, "start no sequence after this many operations (0: no limit)")
	s.IntVar(&f.Length, "length", 24, "operations per sequence, at most 10,000")
	s.IntVar(&f.Parallel, "parallel", 8, "worlds to run at the same time, at most 1,000")
	s.IntVar(&f.Most, "failures", 1, "stop after this many failures")
	s.StringVar(&f.out, "out", "explored", "folder for the scenario files of failures")
	v.add(c)
	return c
}

// check reports the first flag value that makes no sense.
func (f *exploreFlags) check() error {
	return cmp.Or(atLeast("seed", f.Seed, 1), atLeast("for", f.For, 0), atLeast("sequences", f.Sequences, 0), atLeast("operations", f.Steps, 0),
		between("length", f.Length, 1, 10_000), between("parallel", f.Parallel, 1, 1000), atLeast("failures", f.Most, 1))
}

func runExplore(ctx context.Context, e *env, f *exploreFlags) error {
	late := lateServer(e)
	f.Play = func(play context.Context, file *engine.File, fast bool) (engine.Result, error) {
		return playAlone(play, testbed.Config{StopWithin: stopWithin, Interrupted: ctx, Late: late}, file, fast)
	}
	f.Failed = func(x explore.Failure) error {
		name := filepath.Join(f.out, fmt.Sprintf("explore-%d-%d.yaml", f.Seed, x.Index))
		err := os.MkdirAll(f.out, 0o755)
		if err == nil {
			err = os.WriteFile(name, x.File, 0o644)
		}
		if err != nil {
			return trouble("--out", err)
		}
		fmt.Fprintf(e.out, "FAIL %s: %s\n", name, x.Why)
		return nil
	}
	sum, err := explore.Run(ctx, f.Config)
	printSummary(e.out, f, sum)
	switch {
	case ctx.Err() != nil:
		return exit{codeInterrupted, "interrupted"}
	case err != nil:
		return err
	case len(sum.Failures) > 0:
		return exit{codeFailed, ""}
	case sum.Sequences == 0:
		return exit{codeInvalid, "no sequence was played; give it more time with --for"}
	case sum.Invalid > 0:
		return exit{codeInvalid, fmt.Sprintf("%s could not be judged: %s", amount.Many(sum.Invalid, "sequence"), sum.Trouble)}
	}
	return nil
}

func printSummary(w io.Writer, f *exploreFlags, s explore.Summary) {
	fmt.Fprintf(w, "%s, %s in %.0f s (%.0f sequences per minute) · seed %d · %s\n",
		amount.Many(s.Sequences, "sequence"), amount.Many(s.Operations, "operation"), s.Seconds, s.PerMinute(), f.Seed, amount.Many(len(s.Failures), "failure"))
	if s.Flaky > 0 {
		fmt.Fprintf(w, "%s failed once but passed with the usual limits: not counted\n", amount.Many(s.Flaky, "sequence"))
	}
}

// Bounds of a fast world: boards report within milliseconds, and nobody waits long for one that doesn't.
const (
	fastWait     = 700 * time.Millisecond
	fastCoalesce = 2 * time.Millisecond
)

// inMemory is where a world of a second is put that no power cut needs to survive:
// Linux's folder in memory, where commits cost no disk, or the usual one.
func inMemory() string {
	const shm = "/dev/shm"
	probe, err := os.MkdirTemp(shm, "doorlab-explore-")
	if err != nil {
		return ""
	}
	_ = os.Remove(probe)
	return shm
}

// playAlone plays a scenario in a small world of its own: two live boards and the test place. c says how it stops.
func playAlone(ctx context.Context, c testbed.Config, file *engine.File, fast bool) (_ engine.Result, err error) {
	dir, err := os.MkdirTemp(inMemory(), "doorlab-explore-")
	if err != nil {
		return engine.Result{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	w := world.Default(1, 2)
	c.World, c.Fleet, c.Virtual, c.DataDir, c.Control, c.Log = w, true, true, dir, "127.0.0.1:0", slog.New(slog.DiscardHandler)
	if fast {
		c.Wait, c.Coalesce = fastWait, fastCoalesce
		for i := range w.Places {
			w.Places[i].Report = &world.Report{P50: time.Millisecond, P99: 2 * time.Millisecond}
		}
	}
	tb, err := testbed.Start(ctx, c)
	if err != nil {
		return engine.Result{}, err
	}
	defer func() { err = errors.Join(err, tb.Stop()) }()
	t := engine.Target{HTTP: tb.Ready.HTTP, Control: []string{tb.Ready.Control}, Tokens: []string{tb.Ready.ControlToken}, Places: engine.PlacesOf(tb.Ready.Places)}
	return engine.Run(ctx, t, []*engine.File{file}, engine.Options{Random: true, Seed: 1})
}
