package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/near"
	"github.com/doorlab/doorlab/internal/report"
	"github.com/doorlab/doorlab/internal/scenario"
	"github.com/doorlab/doorlab/scenarios"
)

func checkCommand(e *env) *cobra.Command {
	f := &targetFlags{}
	var out, config string
	var asJSON, allow bool
	var vars map[string]string
	c := &cobra.Command{
		Use:   "check [FILE|DIR...]",
		Short: "Run scenarios and judge every guarantee",
		Long: `Runs scenario files, by default the built-in suite, against a testbed of its own
on virtual time, or against a running server. Prints a line per guarantee with
the number that decides it, and writes a run directory with every event,
JUnit XML, JSON and an HTML report.`,
		Example: `  doorlab check                                   # the built-in suite on 1,000 boards
  doorlab check --boards 5000
  doorlab check my-outage.yaml scenarios/         # your own
  doorlab check --target http://127.0.0.1:8080 --control http://127.0.0.1:8081 --control-token ... my-outage.yaml`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := settle(c, e); err != nil {
				return err
			}
			if err := f.check(); err != nil {
				return err
			}
			files, err := scenarioFiles(args)
			if err != nil {
				return err
			}
			if err := knownVars(vars, files); err != nil {
				return err
			}
			if out == "" {
				out = filepath.Join("runs", clock.WallNow().UTC().Format("20060102-150405")+"-"+strconv.FormatInt(max(f.seed, 1), 10))
			}
			return runCheck(c.Context(), e, f, files, out, asJSON, scenario.Options{Seed: max(f.seed, 1), AllowHost: allow, Vars: vars, Verbose: f.verbose, Progress: e.err})
		},
	}
	f.add(c, 1000)
	c.Flags().StringVar(&config, "config", "", "YAML file with the flags' names as keys")
	c.Flags().StringVar(&out, "out", "", "run directory (default runs/<time>-<seed>)")
	c.Flags().BoolVar(&asJSON, "json", false, "print the verdicts as JSON on stdout in place of the table")
	c.Flags().BoolVar(&allow, "allow-host", false, "let load steps go to a target that is not this machine")
	c.Flags().StringToStringVar(&vars, "var", nil, "override a variable of the files, `name=value`")
	return c
}

// scenarioFiles reads the files given, or the built-in suite.
func scenarioFiles(args []string) ([]*scenario.File, error) {
	var files []*scenario.File
	var err error
	if len(args) == 0 {
		files, err = scenario.LoadFS(scenarios.Files)
	} else {
		files, err = scenario.Load(args...)
	}
	var problems scenario.Problems
	switch {
	case errors.As(err, &problems):
		return nil, exit{BadScenario, problems.Error()}
	case err != nil:
		return nil, usagef("%s", reason(err))
	}
	return files, nil
}

// knownVars refuses a --var that no file has: it would change nothing.
func knownVars(given map[string]string, files []*scenario.File) error {
	known := map[string]bool{}
	for _, f := range files {
		for name := range f.Doc.Vars {
			known[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !known[name] {
			return usagef("--var %s: no file has such a variable%s", name, near.Hint(name, slices.Sorted(maps.Keys(known))))
		}
	}
	return nil
}

func runCheck(ctx context.Context, e *env, f *targetFlags, files []*scenario.File, out string, asJSON bool, o scenario.Options) error {
	a, err := f.open(ctx, e, true)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return errors.Join(failf("--out: %s", reason(err)), a.stop())
	}
	t := scenario.Target{HTTP: a.http, Control: a.control, Tokens: a.tokens}
	for _, p := range a.places {
		t.Places = append(t.Places, scenario.Place{PlaceID: p.PlaceID, Name: p.Name, Kind: p.Kind, APIKey: *p.APIKey, EntryPhone: p.EntryPhone})
	}
	o.Config = map[string]any{"target": f.target, "boards": f.boards, "seed": o.Seed, "link": f.link, "world": f.world}
	res, err := scenario.Run(ctx, t, files, o)
	stopErr := a.stop()
	switch {
	case ctx.Err() != nil:
		return exit{Interrupted, "interrupted"}
	case err != nil:
		return failf("%s", err)
	}
	if err := report.WriteDir(out, res); err != nil {
		return failf("%s", reason(err))
	}
	if err := printResult(e.out, res, asJSON); err != nil {
		return failf("%s", err)
	}
	fmt.Fprintf(e.err, "run directory: %s (open report.html)\n", out)
	if path := e.getenv("GITHUB_STEP_SUMMARY"); path != "" {
		if err := appendSummary(path, res); err != nil {
			return failf("GITHUB_STEP_SUMMARY: %s", reason(err))
		}
	}
	switch code := res.ExitCode(); {
	case code == Unreachable:
		return exit{code, res.Reason}
	case code != OK:
		return exit{code, ""}
	case stopErr != nil:
		return failf("%s", stopErr)
	}
	return nil
}

func printResult(w io.Writer, res scenario.Result, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(res)
	}
	return report.WriteTable(w, res)
}

func appendSummary(path string, res scenario.Result) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	return report.WriteSummary(f, res)
}

func schemaCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of scenario files",
		Example: `  doorlab schema > doorlab.schema.json
  # then, first line of a scenario: # yaml-language-server: $schema=doorlab.schema.json`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			b, err := scenario.Schema()
			if err != nil {
				return failf("%s", err)
			}
			_, err = e.out.Write(append(b, '\n'))
			return err
		},
	}
}
