package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/testbed"
	"github.com/doorlab/doorlab/testbed/age"
)

type ageFlags struct {
	age.Config
	span      span
	start     string
	retention retention
	out, data string
	asJSON    bool
	view      view
}

func ageCommand(e *env) *cobra.Command {
	f := &ageFlags{span: span(30 * day)}
	c := &cobra.Command{
		Use:   "age",
		Short: "Run weeks, months or years of virtual time and judge them as they pass",
		Long: `Runs its own worlds on virtual time: people come and go, permits begin and end,
lines fail for minutes or days, boards and servers restart, clocks change in
two of three time zones. Everything is generated from the seed and judged a week at a
time, so memory use stays level. Writes a run directory like 'doorlab check'.`,
		Example: `  doorlab age                                  # 30 days of 100 boards
  doorlab age --for 1y
  doorlab age --for 2w --boards 5 --seed 7
  doorlab age --for 1w --start 2027-10-28      # the nights on which clocks go back`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return runAge(c.Context(), e, f)
		},
	}
	s := c.Flags()
	s.Var(&f.span, "for", "how long to run, in virtual time: 36h, 10d, 2w, 1y")
	s.StringVar(&f.start, "start", "2027-01-01", "the first day, UTC, from 1971 on")
	s.IntVar(&f.Boards, "boards", 100, "simulated boards, ten to a place; the test place has one more")
	s.IntVar(&f.Doors, "doors", 2, "doors per board")
	s.IntVar(&f.Worlds, "worlds", 0, "worlds that the boards are divided among; each has its own server, and they run side by side (default: one for every 50 boards)")
	s.Float64Var(&f.Entries, "entries", 20, "entries per door per day, on average")
	s.Int64Var(&f.Seed, "seed", 1, "seed of everything that happens")
	s.Var(&f.retention, "retention", "how long records, the audit log and ended grants are kept")
	s.StringVar(&f.out, "out", "", "run directory (default: runs/age-<time>-<seed>)")
	s.StringVar(&f.data, "data", "", "data directory, empty or new (default: temporary, removed on exit)")
	s.BoolVar(&f.asJSON, "json", false, "print the verdicts as JSON on stdout instead of the table")
	f.view.add(c)
	return c
}

func (f *ageFlags) check() (err error) {
	if err := cmp.Or(boardsFlag(f.Boards, 1), between("doors", f.Doors, 1, 16), between("worlds", f.Worlds, 0, f.Boards),
		between("entries", f.Entries, 0, 500), atLeast("seed", f.Seed, 1)); err != nil {
		return err
	}
	if f.Start, err = time.Parse(time.DateOnly, f.start); err != nil {
		return usagef("--start %q: must be a day like 2027-01-01", f.start)
	}
	f.For, f.Retention = time.Duration(f.span), testbed.Retention(f.retention)
	if f.For < age.Shortest {
		least := span(age.Shortest)
		return usagef("--for: must be at least %s", &least)
	}
	if end := f.Start.Add(f.For); f.Start.Year() < 1971 || end.Year() > 9990 { // boards count from 1970, and answers end with the year 9999
		return usagef("--start %q: the whole run must be in the years 1971 to 9990", f.start)
	}
	return nil
}

func runAge(ctx context.Context, e *env, f *ageFlags) error {
	out := cmp.Or(f.out, filepath.Join("runs", "age-"+clock.WallNow().UTC().Format("20060102-150405")+"-"+strconv.FormatInt(f.Seed, 10)))
	dir, cleanup, err := freshDir(f.data)
	if err != nil {
		return err
	}
	defer cleanup()
	release, err := hold(out, false)
	if err != nil {
		return err
	}
	defer release()
	if err := clearOut(out); err != nil {
		return err
	}
	f.DataDir, f.Progress, f.Version = dir, f.view.screen(e), build()
	f.StopWithin, f.Late = stopWithin, lateServer(e)
	res, _, err := age.Run(ctx, f.Config)
	if err != nil && ctx.Err() == nil && len(res.Files) == 0 { // it never began
		return startError(ctx, err)
	}
	return printer{&f.view, f.asJSON}.finish(ctx, e, out, res)
}

const day = 24 * time.Hour

// span is a duration that knows days, weeks and years.
type span time.Duration

var spanUnits = map[string]time.Duration{"d": day, "w": 7 * day, "y": 365 * day}

func (s *span) Set(text string) error {
	if n := len(text); n > 1 {
		if unit := spanUnits[text[n-1:]]; unit > 0 {
			v, err := strconv.ParseFloat(text[:n-1], 64)
			if err != nil || !(v >= 0 && v <= float64(100*spanUnits["y"]/unit)) {
				return errors.New("must be a number of days, weeks or years up to 100y, such as 2w")
			}
			*s = span(v * float64(unit))
			return nil
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return errors.New("must be a duration such as 36h, 10d, 2w or 1y")
	}
	*s = span(d)
	return nil
}

func (s *span) String() string {
	if d := time.Duration(*s); d >= day && d%day == 0 {
		return fmt.Sprintf("%dd", d/day)
	}
	return strings.TrimSuffix(strings.TrimSuffix(time.Duration(*s).String(), "0s"), "0m")
}

func (*span) Type() string { return "duration" }
