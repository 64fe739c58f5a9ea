package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/listen"
	"github.com/doorlab/doorlab/internal/shard"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/testbed"
)

// boardsFlags are a fleet's.
type boardsFlags struct {
	config, mqtt, control, token, tokenFile, data, world, slice, clock, client string
	broker                                                                     brokerFlags
	seed                                                                       int64
	secretFile, server                                                         string
	shard                                                                      shardFlag
	boards                                                                     int
	json, verbose                                                              bool
	timeout                                                                    time.Duration
}

// clientUsage is the help of --client.
const clientUsage = "the boards' MQTT client: paho, or light for large fleets"

func boardsCommand(e *env) *cobra.Command {
	f := &boardsFlags{}
	c := &cobra.Command{
		Use:   "boards",
		Short: "Run a fleet, or a slice of one, against a broker",
		Example: `  doorlab serve --world stores.yaml --secret-file secret &       # the server, with the same world and secret
  doorlab boards --world stores.yaml --secret-file secret        # all of its live boards
  doorlab boards --world stores.yaml --secret-file secret --slice 2/3 --control 127.0.0.1:0   # a third of them
  doorlab serve --boards 100 --secret-file s & doorlab boards --boards 100 --secret-file s   # the built-in world
  doorlab boards --broker mqtts://doors.example.com:8883 --mqtt-ca ca.pem --boards 100 --secret-file s   # over TLS`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if f.mqtt != "" && !c.Flags().Changed("broker") {
				f.broker.url = f.mqtt // the name that the server's flag and ready line use
			}
			return f.run(c.Context(), e)
		},
	}
	s := c.Flags()
	s.StringVar(&f.config, "config", "", "YAML file whose keys are flag names")
	f.broker.add(c, "tcp://127.0.0.1:1883", "address of the server's MQTT broker; mqtts://host:port over TLS")
	s.StringVar(&f.mqtt, "mqtt", "", "alias of --broker (--broker wins)")
	s.StringVar(&f.control, "control", "127.0.0.1:8082", `address of the fleet's control API ("" turns it off)`)
	s.StringVar(&f.token, "control-token", "", "bearer token of the control API (default: generated and printed when ready)")
	s.StringVar(&f.tokenFile, "control-token-file", "", tokenFileUsage)
	s.StringVar(&f.server, "server", "", "control API of the server (with the same token), so that board show can say what has taken a detached board's place (default: unknown until check names the server)")
	s.StringVar(&f.data, "data", "", "data directory for flash and journals (default: temporary, removed on exit)")
	s.StringVar(&f.world, "world", "", "the world file the server runs with (default: the built-in world)")
	s.StringVar(&f.slice, "slice", "1/1", "i/n: run slice i of n of the fleet")
	f.shard.add(c, "only the boards of every n-th place of the world, from the i-th: `i/n`, as given to serve (default: DOORLAB_SHARD_INDEX and DOORLAB_SHARDS, otherwise all places)")
	s.StringVar(&f.clock, "clock", "real", "real or virtual")
	s.StringVar(&f.client, "client", testbed.Paho, clientUsage)
	s.Var((*seedValue)(&f.seed), "seed", "the seed the server runs with (default: the world file's, otherwise 1)")
	s.StringVar(&f.secretFile, "secret-file", "", "the secret file the server runs with (default: passwords derive from the seed)")
	s.IntVar(&f.boards, "boards", 200, "number of boards in the built-in world, as given to serve (not with --world)")
	s.DurationVar(&f.timeout, "timeout", time.Minute, "how long to wait for all boards to connect")
	s.BoolVar(&f.json, "json", false, "print one JSON line on stdout when ready, and nothing else there")
	s.BoolVarP(&f.verbose, "verbose", "v", false, "log more to stderr")
	return c
}

func (f *boardsFlags) run(ctx context.Context, e *env) error {
	if err := e.wrong(oneOf("clock", f.clock, "real", "virtual"), oneOf("client", f.client, testbed.Paho, testbed.Light),
		boardsFlag(f.boards, 0), positive("timeout", f.timeout), ifAny("control", f.control)); err != nil {
		return err
	}
	slice, err := shard.Parse(f.slice)
	if err != nil {
		return usagef("--slice %s", err)
	}
	addr, secure, err := f.broker.address()
	if err != nil {
		return err
	}
	token, err := secretOf(f.token, f.tokenFile)
	if err != nil {
		return err
	}
	if f.server, err = f.serverControl(token); err != nil {
		return err
	}
	w := world.Default(max(f.seed, 1), f.boards)
	if f.world != "" {
		if w, err = loadWorld(ctx, f.world, f.seed); err != nil {
			return err
		}
	}
	if w, err = f.shard.of(w, e.getenv); err != nil {
		return err
	}
	if err := overTCP((w.LiveBoards()+max(slice.Of, 1)-1)/max(slice.Of, 1), listen.Descriptors(), false); err != nil {
		return err
	}
	if f.secretFile == "" && f.seed == 0 && !w.SeedGiven && !w.PasswordsGiven() {
		return usagef("boards: the boards' passwords are missing: pass the server's --secret-file FILE, or start both with the same --seed")
	}
	dir, cleanup, err := dataDir(f.data)
	if err != nil {
		return err
	}
	defer cleanup()
	fc := testbed.FleetConfig{World: w, Version: version(), Broker: addr, TLS: secure, Client: f.client, Slice: slice, Control: f.control, ControlToken: token, Server: f.server,
		SecretFile: f.secretFile, DataDir: dir, Virtual: f.clock == "virtual", Progress: progress(e), Log: logger(e, slog.LevelWarn, f.verbose)}
	return runBoards(ctx, e, fc, f.timeout, f.json)
}

// serverControl checks --server. Its calls carry the fleet's own token.
func (f *boardsFlags) serverControl(token string) (string, error) {
	if f.server == "" {
		return "", nil
	}
	base := baseURL(f.server)
	if err := serverURL("server", base); err != nil {
		return "", err
	}
	switch {
	case f.control == "":
		return "", usagef("--server has no effect with --control \"\": it is for what the fleet's control API shows")
	case token == "":
		return "", usagef("--server needs --control-token (or --control-token-file), the one that the server runs with")
	}
	return base, nil
}

// dataDir returns the given directory, or a temporary one that cleanup removes.
func dataDir(given string) (dir string, cleanup func(), err error) {
	if given != "" {
		return given, func() {}, nil
	}
	dir, err = os.MkdirTemp("", "doorlab-")
	if err != nil {
		return "", func() {}, failf("no temporary directory: %s; set TMPDIR to one that is writable", reason(err))
	}
	return dir, func() { _ = os.RemoveAll(dir) }, nil
}

// freshDir is dataDir for a run that begins with nothing: its keys and names repeat, so what an earlier run left there would
// count as this one's.
func freshDir(given string) (dir string, cleanup func(), err error) {
	list, err := os.ReadDir(given)
	switch {
	case given == "" || errors.Is(err, os.ErrNotExist):
		return dataDir(given)
	case err != nil:
		return "", nil, failf("--data: %s", reason(err))
	case len(list) > 0:
		return "", nil, usagef("--data %s: isn't empty; name an empty or new directory, because what an earlier run left there would count as this run's", given)
	}
	return dataDir(given)
}

func runBoards(ctx context.Context, e *env, c testbed.FleetConfig, timeout time.Duration, asJSON bool) error {
	f, err := startFleet(ctx, c, timeout)
	if err != nil {
		return err
	}
	if asJSON {
		_ = json.NewEncoder(e.out).Encode(f.Ready) // e.told says if it couldn't be written
	} else {
		fmt.Fprintf(e.out, "%s connected to %s\n", amount.Many(f.Ready.Boards, "board"), c.Broker)
		if f.Ready.Control != "" {
			fmt.Fprintf(e.out, "  control  %s   token %s\n", f.Ready.Control, f.Ready.ControlToken)
		}
		fmt.Fprintln(e.out, "Press Ctrl-C to stop.")
	}
	return untilStopped(ctx, e, f.Failed(), f.Stop)
}

// untilStopped lets what has started run until ctx ends or it dies, and stops it. It stops at once if the ready line couldn't be written.
func untilStopped(ctx context.Context, e *env, failed <-chan error, stop func() error) error {
	if err := e.told(); err != nil {
		return cmp.Or(stop(), err)
	}
	var died error
	select {
	case <-ctx.Done():
	case died = <-failed:
	}
	if err := errors.Join(died, stop()); err != nil {
		return failf("%s", err)
	}
	return nil // what SIGINT or SIGTERM stopped has done its job
}

// startFleet connects the boards and returns when all are connected.
func startFleet(ctx context.Context, c testbed.FleetConfig, timeout time.Duration) (*testbed.Fleet, error) {
	begin, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	f, err := testbed.StartFleet(begin, c)
	switch {
	case err != nil && ctx.Err() == nil && begin.Err() != nil:
		return nil, exit{codeUnreachable, fmt.Sprintf("not all boards could connect to %s within %s (%s); is the server running with the same --world, and the same --secret-file or --seed?",
			c.Broker, timeout, strings.TrimPrefix(reason(err), "boardsim: "))}
	case err != nil:
		return nil, startError(ctx, err)
	}
	return f, nil
}
