package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/doorlab/doorlab/internal/testbed"
	"github.com/doorlab/doorlab/internal/world"
)

func boardsCommand(e *env) *cobra.Command {
	var (
		config, broker, mqtt, control, token, data, worldFile, slice, clockMode string
		seed                                                                    int64
		boards                                                                  int
		jsonOut, verbose                                                        bool
		timeout                                                                 time.Duration
	)
	c := &cobra.Command{
		Use:   "boards",
		Short: "Run a fleet, or a slice of one, against a broker",
		Example: `  doorlab serve --world stores.yaml &            # the server, with the same world
  doorlab boards --world stores.yaml             # all its live boards
  doorlab boards --world stores.yaml --slice 2/3 --control 127.0.0.1:0   # a third of them
  doorlab serve --boards 100 & doorlab boards --boards 100               # the built-in world`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := settle(c, e); err != nil {
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
				broker = mqtt // as the server's flag and its ready line call it
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
			dir, cleanup, err := dataDir(data)
			if err != nil {
				return err
			}
			defer cleanup()
			fc := testbed.FleetConfig{World: w, Broker: addr, SliceI: i, SliceN: n, Control: control, ControlToken: token,
				DataDir: dir, Virtual: clockMode == "virtual", Progress: progress(e), Log: logger(e, verbose)}
			return runBoards(c.Context(), e, fc, timeout, jsonOut)
		},
	}
	s := c.Flags()
	s.StringVar(&config, "config", "", "YAML file with the flags' names as keys")
	s.StringVar(&broker, "broker", "tcp://127.0.0.1:1883", "the server's broker")
	s.StringVar(&mqtt, "mqtt", "", "the same as --broker, which beats it")
	s.StringVar(&control, "control", "127.0.0.1:8082", `address of the boards' control API; "" runs without it`)
	s.StringVar(&token, "control-token", "", "bearer token of the control API (default: a new one, printed when ready)")
	s.StringVar(&data, "data", "", "data directory for flash and journal (default: a temporary one that goes at the end)")
	s.StringVar(&worldFile, "world", "", "the server's world file (default: the built-in world)")
	s.StringVar(&slice, "slice", "1/1", "i/n: every n-th board, from the i-th on")
	s.StringVar(&clockMode, "clock", "real", "real or virtual")
	s.Int64Var(&seed, "seed", 0, "the server's seed")
	s.IntVar(&boards, "boards", 200, "boards of the built-in world, as given to serve (without --world)")
	s.DurationVar(&timeout, "timeout", time.Minute, "how long the boards may take to connect")
	s.BoolVar(&jsonOut, "json", false, "print one ready line as JSON on stdout")
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

// dataDir is the directory given, or a temporary one that cleanup removes.
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
		return exit{Unreachable, fmt.Sprintf("not all boards could connect to %s within %s; is the server there, with the same --world and --seed?", c.Broker, timeout)}
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
		fmt.Fprintf(e.out, "%d boards are connected to %s\n", f.Ready.Boards, c.Broker)
		if f.Ready.Control != "" {
			fmt.Fprintf(e.out, "  control  %s   token %s\n", f.Ready.Control, f.Ready.ControlToken)
		}
		fmt.Fprintln(e.out, "Ctrl-C ends it.")
	}
	<-ctx.Done()
	if err := f.Stop(); err != nil {
		return failf("%s", err)
	}
	return nil
}
