package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"os"
	"strings"

	"github.com/lmittmann/tint"
	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"github.com/doorlab/doorlab/internal/testbed"
	"github.com/doorlab/doorlab/internal/world"
)

// serverFlags are shared by up and serve.
type serverFlags struct {
	config, http, mqtt, control, controlToken, data, world, linkURL, sip, clock, link string
	seed                                                                              int64
	boards                                                                            int
	json, crashPoints, verbose                                                        bool
	trustedProxies                                                                    []string
}

func (f *serverFlags) add(c *cobra.Command) {
	s := c.Flags()
	s.StringVar(&f.config, "config", "", "YAML file with the flags' names as keys")
	s.StringVar(&f.http, "http", "127.0.0.1:8080", "address of the public API; port 0 picks a free one")
	s.StringVar(&f.mqtt, "mqtt", "127.0.0.1:1883", "address of the broker")
	s.StringVar(&f.control, "control", "127.0.0.1:8081", `address of the control API; "" runs without it`)
	s.StringVar(&f.controlToken, "control-token", "", "bearer token of the control API (default: derived, printed when ready)")
	s.StringVar(&f.data, "data", "", "data directory (default: a temporary one that goes at the end)")
	s.StringVar(&f.world, "world", "", "world file: places, boards, doors, keys (default: the built-in world)")
	s.StringVar(&f.linkURL, "link-url", "", "base of entry links (default: the HTTP address)")
	s.StringVar(&f.sip, "sip", "", "address of phone entry over SIP, UDP and TCP (default: off)")
	s.StringVar(&f.clock, "clock", "real", "real or virtual (movable over the control API)")
	s.Int64Var(&f.seed, "seed", 0, "derives ids, keys and chance (default: the data directory's, the world file's, else 1)")
	s.BoolVar(&f.json, "json", false, "print one ready line as JSON on stdout and nothing else there")
	s.BoolVar(&f.crashPoints, "crash-points", false, "allow POST /lab/v1/crash")
	s.StringSliceVar(&f.trustedProxies, "trusted-proxies", nil, "addresses (CIDR) whose X-Forwarded-For counts")
	s.BoolVarP(&f.verbose, "verbose", "v", false, "log more to stderr")
}

func upCommand(e *env) *cobra.Command {
	f := &serverFlags{}
	c := &cobra.Command{
		Use:   "up",
		Short: "Run server, broker and a simulated fleet in one process",
		Example: `  doorlab up                                   # 200 boards, the test place, keys printed
  doorlab up --boards 5000 --clock virtual     # a big fleet on time you can move
  doorlab up --world stores.yaml --data ./lab  # your own places, kept over restarts`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := settle(c, e); err != nil {
				return err
			}
			return f.run(c.Context(), e, true)
		},
	}
	f.add(c)
	c.Flags().IntVar(&f.boards, "boards", 200, "simulated boards of live places (without --world)")
	c.Flags().StringVar(&f.link, "link", testbed.Memory, "how boards reach the broker: memory or tcp")
	return c
}

func serveCommand(e *env) *cobra.Command {
	f := &serverFlags{link: testbed.Memory}
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run the API server with its broker, no live fleet",
		Example: `  doorlab serve --data ./lab                   # the test place, for partners
  doorlab serve --world stores.yaml --json     # live places wait for real boards
  doorlab serve --control "" --data /var/lib/doorlab   # as in production`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := settle(c, e); err != nil {
				return err
			}
			return f.run(c.Context(), e, false)
		},
	}
	f.add(c)
	c.Flags().IntVar(&f.boards, "boards", 0, "live boards of the built-in world, for 'doorlab boards' to play (without --world)")
	return c
}

func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no arguments, got %q", c.Name(), args[0])
	}
	return nil
}

func (f *serverFlags) run(ctx context.Context, e *env, fleet bool) error {
	tc, cleanup, err := f.testbed(e, fleet)
	if err != nil {
		return err
	}
	defer cleanup()
	tb, err := testbed.Start(ctx, tc)
	if err != nil {
		return startError(ctx, err)
	}
	if f.json {
		b, err := json.Marshal(tb.Ready)
		if err != nil {
			return failf("%s", err)
		}
		fmt.Fprintln(e.out, string(b))
	} else {
		printReady(ctx, e.out, tb.Ready, tb)
	}
	var died error
	select {
	case <-ctx.Done():
	case died = <-tb.Failed():
	}
	if err := errors.Join(died, tb.Stop()); err != nil {
		return failf("%s", err)
	}
	return nil // SIGINT and SIGTERM are how a server ends
}

// startError turns a failure to start into its exit code.
func startError(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return exit{Interrupted, "interrupted"}
	case errors.Is(err, testbed.ErrOtherWorld):
		return usagef("%s", err)
	}
	msg := reason(err)
	for _, pkg := range []string{"store: ", "boardsim: "} {
		msg = strings.TrimPrefix(msg, pkg)
	}
	return failf("%s", msg)
}

// testbed checks the flags and makes the configuration. cleanup removes a temporary data directory.
func (f *serverFlags) testbed(e *env, fleet bool) (testbed.Config, func(), error) {
	none := func() {}
	if err := f.check(); err != nil {
		return testbed.Config{}, none, err
	}
	w, fileSeed, err := f.places()
	if err != nil {
		return testbed.Config{}, none, err
	}
	dir, cleanup, err := dataDir(f.data)
	return testbed.Config{
		World: w, FileSeed: fileSeed, Fleet: fleet, Link: f.link, Virtual: f.clock == "virtual", DataDir: dir,
		HTTP: f.http, MQTT: f.mqtt, Control: f.control, ControlToken: f.controlToken, LinkURL: f.linkURL, SIP: f.sip,
		CrashPoints: f.crashPoints, TrustedProxy: f.trustedProxies, Progress: progress(e), Log: logger(e, f.verbose),
	}, cleanup, err
}

// check refuses what cannot be meant.
func (f *serverFlags) check() error {
	errs := []error{oneOf("clock", f.clock, "real", "virtual"), oneOf("link", f.link, testbed.Memory, testbed.TCP),
		address("http", f.http), address("mqtt", f.mqtt)}
	if f.control != "" {
		errs = append(errs, address("control", f.control))
	}
	if f.sip != "" {
		errs = append(errs, address("sip", f.sip))
	}
	if u, err := url.Parse(f.linkURL); f.linkURL != "" && (err != nil || u.Host == "") {
		errs = append(errs, usagef("--link-url %q: must be an address like https://doors.example.com", f.linkURL))
	}
	for _, p := range f.trustedProxies {
		_, err1 := netip.ParsePrefix(p)
		if _, err2 := netip.ParseAddr(p); err1 != nil && err2 != nil {
			errs = append(errs, usagef("--trusted-proxies %q: must be an address or a CIDR prefix", p))
		}
	}
	if f.boards < 0 || f.boards > 20000 {
		errs = append(errs, usagef("--boards %d: must be 0 to 20000", f.boards))
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// places is the world: from the file, or the built-in one. Its seed is the
// flag's, else what the data directory remembers, else the file's, else 1.
func (f *serverFlags) places() (w *world.World, fileSeed int64, err error) {
	var seed, made int64
	if f.data != "" {
		seed, made = testbed.RememberedSeed(f.data)
	}
	if f.world == "" {
		return world.Default(cmp.Or(f.seed, seed, 1), f.boards), 0, nil
	}
	if w, err = loadWorld(f.world, 0); err != nil {
		return nil, 0, err
	}
	fileSeed = w.Seed
	want := cmp.Or(f.seed, seed)
	if f.seed == 0 && made != fileSeed { // an edited file is another world
		want = fileSeed
	}
	if want == 0 || want == fileSeed {
		return w, fileSeed, nil
	}
	w, err = loadWorld(f.world, want)
	return w, fileSeed, err
}

// logger writes to stderr: coloured on a terminal, JSON elsewhere.
func logger(e *env, verbose bool) *slog.Logger {
	level := slog.LevelWarn
	if verbose {
		level = slog.LevelDebug
	}
	if fd, ok := e.err.(*os.File); ok && isatty.IsTerminal(fd.Fd()) {
		return slog.New(tint.NewTextHandler(fd, &tint.Options{Level: level}))
	}
	return slog.New(slog.NewJSONHandler(e.err, &slog.HandlerOptions{Level: level}))
}

func versionCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(e.out, "doorlab", Version())
			return err
		},
	}
}
