package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/testbed"
)

func boardsCommand(e *env) *cobra.Command {
	var (
		config, broker, mqtt, control, token, data, worldFile, slice, clockMode string
		seed                                                                    int64
		secretFile                                                              string
		boards                                                                  int
		jsonOut, verbose                                                        bool
		timeout                                                                 time.Duration
	)
	c := &cobra.Command{
		Use:   "boards",
		Short: "Run a fleet, or a slice of one, against a broker",
		Example: `  doorlab serve --world stores.yaml --secret-file secret &       # the server, with the same world and secret
  doorlab boards --world stores.yaml --secret-file secret        # all of its live boards
  doorlab boards --world stores.yaml --secret-file secret --slice 2/3 --control 127.0.0.1:0   # a third of them
  doorlab serve --boards 100 --secret-file s & doorlab boards --boards 100 --secret-file s   # the built-in world`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := readSettings(c, e); err != nil {
				return err
			}
			if err := oneOf("clock", clockMode, "real", "virtual"); err != nil {
				return err
			}
			i, n, err := parseSlice(slice)
			if err != nil {
				return err
			}
			if mqtt != "" && !c.Flags().Changed("broker") {
				broker = mqtt // the name that the server's flag and ready line use
			}
			addr := strings.TrimPrefix(broker, "tcp://")
			if address("broker", addr) != nil {
				return usagef("--broker %q: must be host:port or tcp://host:port", broker)
			}
			if control != "" {
				if err := address("control", control); err != nil {
					return err
				}
			}
			var w *world.World
			if worldFile != "" {
				if w, err = loadWorld(worldFile, seed); err != nil {
					return err
				}
			} else {
				w = world.Default(max(seed, 1), boards)
			}
			if secretFile == "" && seed == 0 && !w.SeedGiven && !w.PasswordsGiven() {
				return usagef("boards: the boards' passwords are missing: pass --secret-file FILE, the same as to the server, or start both with the same --seed")
			}
			dir, cleanup, err := dataDir(data)
			if err != nil {
				return err
			}
			defer cleanup()
			fc := testbed.FleetConfig{World: w, Broker: addr, SliceI: i, SliceN: n, Control: control, ControlToken: token,
				SecretFile: secretFile, DataDir: dir, Virtual: clockMode == "virtual", Progress: progress(e), Log: logger(e, verbose)}
			return runBoards(c.Context(), e, fc, timeout, jsonOut)
		},
	}
	s := c.Flags()
	s.StringVar(&config, "config", "", "YAML file whose keys are flag names")
	s.StringVar(&broker, "broker", "tcp://127.0.0.1:1883", "address of the server's MQTT broker")
	s.StringVar(&mqtt, "mqtt", "", "alias of --broker (--broker wins)")
	s.StringVar(&control, "control", "127.0.0.1:8082", `address of the fleet's control API ("" turns it off)`)
	s.StringVar(&token, "control-token", "", "bearer token of the control API (default: generated and printed when ready)")
	s.StringVar(&data, "data", "", "data directory for flash and journals (default: temporary, removed on exit)")
	s.StringVar(&worldFile, "world", "", "the world file the server runs with (default: the built-in world)")
	s.StringVar(&slice, "slice", "1/1", "i/n: run slice i of n of the fleet")
	s.StringVar(&clockMode, "clock", "real", "real or virtual")
	s.Int64Var(&seed, "seed", 0, "the seed the server runs with (default: the world file's, else 1)")
	s.StringVar(&secretFile, "secret-file", "", "the secret file the server runs with (default: passwords derive from the seed)")
	s.IntVar(&boards, "boards", 200, "number of boards in the built-in world, as given to serve (not with --world)")
	s.DurationVar(&timeout, "timeout", time.Minute, "how long to wait for all boards to connect")
	s.BoolVar(&jsonOut, "json", false, "print one JSON line on stdout when ready, and nothing else there")
	s.BoolVarP(&verbose, "verbose", "v", false, "log more to stderr")
	return c
}

func parseSlice(s string) (i, n int, err error) {
	a, b, ok := strings.Cut(s, "/")
	i, err1 := strconv.Atoi(a)
	n, err2 := strconv.Atoi(b)
	if !ok || err1 != nil || err2 != nil || n < 1 || i < 1 || i > n {
		return 0, 0, usagef("--slice %q: must be i/n with 1 <= i <= n, e.g. 2/3", s)
	}
	return i, n, nil
}

// dataDir returns the given directory, or a temporary one that cleanup removes.
func dataDir(given string) (dir string, cleanup func(), err error) {
	if given != "" {
		return given, func() {}, nil
	}
	dir, err = os.MkdirTemp("", "doorlab-")
	if err != nil {
		return "", func() {}, failf("%s", reason(err))
	}
	return dir, func() { _ = os.RemoveAll(dir) }, nil
}

func runBoards(ctx context.Context, e *env, c testbed.FleetConfig, timeout time.Duration, asJSON bool) error {
	begin, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	f, err := testbed.StartFleet(begin, c)
	switch {
	case err != nil && ctx.Err() == nil && begin.Err() != nil:
		return exit{Unreachable, fmt.Sprintf("not all boards could connect to %s within %s; is the server running with the same --world, and the same --secret-file or --seed?", c.Broker, timeout)}
	case err != nil:
		return startError(ctx, err)
	}
	if asJSON {
		b, err := json.Marshal(f.Ready)
		if err != nil {
			return failf("%s", err)
		}
		fmt.Fprintln(e.out, string(b))
	} else {
		fmt.Fprintf(e.out, "%d boards connected to %s\n", f.Ready.Boards, c.Broker)
		if f.Ready.Control != "" {
			fmt.Fprintf(e.out, "  control  %s   token %s\n", f.Ready.Control, f.Ready.ControlToken)
		}
		fmt.Fprintln(e.out, "Press Ctrl-C to stop.")
	}
	<-ctx.Done()
	if err := f.Stop(); err != nil {
		return failf("%s", err)
	}
	return nil
}
