package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strings"

	"github.com/lmittmann/tint"
	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"github.com/doorlab/doorlab/internal/listen"
	"github.com/doorlab/doorlab/internal/loopback"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/testbed"
)

// serverFlags are shared by up and serve.
type serverFlags struct {
	config, http, mqtt, control, controlToken, tokenFile, data, world, linkURL, sip, clock, link, client string
	seed                                                                                                 int64
	secretFile                                                                                           string
	init                                                                                                 bool
	boards                                                                                               int
	metrics, debug, otlp                                                                                 string
	json, crashPoints, verbose                                                                           bool
	shard                                                                                                shardFlag
	retention                                                                                            retention
	trustedProxies, sipPeers                                                                             []string
	tls                                                                                                  listenerFiles
}

func (f *serverFlags) add(c *cobra.Command) {
	s := c.Flags()
	s.StringVar(&f.config, "config", "", "YAML file whose keys are flag names")
	s.StringVar(&f.http, "http", "127.0.0.1:8080", "address of the public API (port 0 picks a free one)")
	s.StringVar(&f.mqtt, "mqtt", "127.0.0.1:1883", "address of the MQTT broker")
	s.StringVar(&f.control, "control", "127.0.0.1:8081", `address of the control API ("" turns it off)`)
	s.StringVar(&f.controlToken, "control-token", "", "bearer token of the control API (default: generated and printed when ready)")
	s.StringVar(&f.tokenFile, "control-token-file", "", tokenFileUsage)
	s.StringVar(&f.metrics, "metrics", "", "separate address for /metrics, for a server without a control API (default: off; the control API serves it too)")
	s.StringVar(&f.otlp, "otlp", "", "send OpenTelemetry spans of requests and door commands to this `URL`, OTLP over HTTP, e.g. http://127.0.0.1:4318 (default: none)")
	s.StringVar(&f.debug, "debug-addr", "", "loopback address that serves this process's profiles (pprof) (default: off)")
	f.tls.add(c)
	s.StringVar(&f.data, "data", "", "data directory (default: temporary, removed on exit)")
	s.StringVar(&f.world, "world", "", "world file: places, boards, doors, keys (default: the built-in world)")
	s.StringVar(&f.linkURL, "link-url", "", "public address of the API, for entry links and the OpenAPI documents (default: the HTTP address)")
	s.StringVar(&f.sip, "sip", "", "address for phone entry over SIP, UDP and TCP (default: off)")
	s.StringSliceVar(&f.sipPeers, "sip-peers", nil, "trunks (address or CIDR) that may call over SIP and whose caller ids are trusted (default: this machine)")
	s.StringVar(&f.clock, "clock", "real", "real or virtual; the control API can move a virtual clock")
	s.Var((*seedValue)(&f.seed), "seed", "seed for ids and randomness; setting it also makes keys and passwords repeatable (default: from the data directory or the world file, otherwise 1)")
	s.StringVar(&f.secretFile, "secret-file", "", "file with the secret that keys and board passwords derive from, shared with 'doorlab boards'; created if missing (default: the data directory's own secret)")
	s.BoolVar(&f.init, "init", false, "start over if files of the data directory are missing; the remaining files move to a subfolder")
	f.shard.add(c, "only every n-th place of the world, from the i-th: `i/n`; a data directory stays with its shard (default: DOORLAB_SHARD_INDEX and DOORLAB_SHARDS, otherwise all places)")
	s.Var(&f.retention, "retention", "how long entry records, the audit log and ended grants are kept, in days")
	s.BoolVar(&f.json, "json", false, "print one JSON line on stdout when ready, and nothing else there")
	s.BoolVar(&f.crashPoints, "crash-points", false, "allow POST /lab/v1/crash")
	s.StringSliceVar(&f.trustedProxies, "trusted-proxies", nil, "proxies (address or CIDR) whose X-Forwarded-For header is trusted")
	s.BoolVarP(&f.verbose, "verbose", "v", false, "log more to stderr")
}

func upCommand(e *env) *cobra.Command {
	f := &serverFlags{}
	c := &cobra.Command{
		Use:   "up",
		Short: "Run server, broker and a simulated fleet in one process",
		Example: `  doorlab up                                   # test place and 200 boards; prints the keys
  doorlab up --boards 5000 --clock virtual     # a big fleet on a clock you can move
  doorlab up --world stores.yaml --data ./lab  # your own places, kept across restarts`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return f.run(c.Context(), e, true)
		},
	}
	f.add(c)
	c.Flags().IntVar(&f.boards, "boards", 200, "number of simulated boards in the built-in world (not with --world)")
	c.Flags().StringVar(&f.link, "link", testbed.Memory, "how boards reach the broker: memory or tcp")
	c.Flags().StringVar(&f.client, "client", testbed.Paho, clientUsage)
	return c
}

func serveCommand(e *env) *cobra.Command {
	f := &serverFlags{link: testbed.Memory, client: testbed.Paho}
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run the API server and its broker, without a live fleet",
		Example: `  doorlab serve --data ./lab                   # the test place, for partners
  doorlab serve --world stores.yaml --json     # live places wait for their boards
  doorlab serve --control "" --data /var/lib/doorlab   # as in production: no control API`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return f.run(c.Context(), e, false)
		},
	}
	f.add(c)
	c.Flags().IntVar(&f.boards, "boards", 0, "number of boards in the built-in world, to be run by 'doorlab boards' (not with --world)")
	return c
}

func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no arguments, got %q", commandPath(c), args[0])
	}
	return nil
}

func (f *serverFlags) run(ctx context.Context, e *env, fleet bool) error {
	tc, cleanup, err := f.testbed(ctx, e, fleet)
	if err != nil {
		return err
	}
	defer cleanup()
	tb, err := testbed.Start(ctx, tc)
	if err != nil {
		return startError(ctx, err)
	}
	if f.json {
		_ = json.NewEncoder(e.out).Encode(tb.Ready) // e.told says if it couldn't be written
	} else {
		printReady(ctx, e.out, tb.Ready, tb)
	}
	return untilStopped(ctx, e, tb.Failed(), tb.Stop)
}

// startError turns a failure to start into its exit code.
func startError(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return exit{codeInterrupted, "interrupted"}
	case errors.Is(err, testbed.ErrOtherWorld), errors.Is(err, testbed.ErrRepeatable), errors.Is(err, testbed.ErrSecretFile):
		return usagef("%s", err)
	}
	msg := reason(err)
	for _, pkg := range []string{"store: ", "boardsim: "} {
		msg = strings.TrimPrefix(msg, pkg)
	}
	return failf("%s", msg)
}

// testbed checks the flags and builds the configuration. The returned function removes a temporary data directory.
func (f *serverFlags) testbed(ctx context.Context, e *env, fleet bool) (testbed.Config, func(), error) {
	none := func() {}
	if err := e.wrong(f.check()...); err != nil {
		return testbed.Config{}, none, err
	}
	token, err := secretOf(f.controlToken, f.tokenFile)
	if err != nil {
		return testbed.Config{}, none, err
	}
	w, fileSeed, err := f.places(ctx)
	if err == nil {
		w, err = f.shard.of(w, e.getenv)
	}
	if err == nil && fleet && f.link == testbed.TCP {
		err = overTCP(w.LiveBoards()+w.TestBoards(), listen.Descriptors(), true)
	}
	if err != nil {
		return testbed.Config{}, none, err
	}
	seeded := f.secretFile == "" && (f.seed != 0 || f.world != "" && w.SeedGiven)
	dir, cleanup, err := dataDir(f.data)
	return testbed.Config{
		Runs:  "runs",
		World: w, Version: version(), FileSeed: fileSeed, Seeded: seeded, SecretFile: f.secretFile, Init: f.init, Fleet: fleet, Link: f.link, Client: f.client, Virtual: f.clock == "virtual", DataDir: dir,
		HTTP: f.http, MQTT: f.mqtt, TLS: f.tls.http, MQTTTLS: f.tls.mqtt, Control: f.control, Metrics: f.metrics, Debug: f.debug, OTLP: f.otlp, ControlToken: token, LinkURL: f.linkURL, SIP: f.sip, SIPPeers: f.sipPeers,
		StopWithin: stopWithin, CrashPoints: f.crashPoints, OnDemand: true, Recorded: fleet, Retention: testbed.Retention(f.retention), TrustedProxy: f.trustedProxies, Progress: progress(e), Log: logger(e, slog.LevelWarn, f.verbose),
	}, cleanup, err
}

// check reports the flag values that make no sense.
func (f *serverFlags) check() (errs []error) {
	errs = []error{oneOf("clock", f.clock, "real", "virtual"), oneOf("link", f.link, testbed.Memory, testbed.TCP),
		oneOf("client", f.client, testbed.Paho, testbed.Light), address("http", f.http), address("mqtt", f.mqtt), f.tls.check(f.link),
		ifAny("control", f.control), ifAny("metrics", f.metrics), ifAny("debug-addr", f.debug)}
	if host, _, _ := net.SplitHostPort(f.debug); f.debug != "" && !loopback.Is(host) {
		errs = append(errs, usagef("--debug-addr %s: must be on loopback, e.g. 127.0.0.1:6060, because profiles show what is in memory", f.debug))
	}
	if f.otlp != "" && !isURL(f.otlp) {
		errs = append(errs, usagef("--otlp %q: must be a URL like http://127.0.0.1:4318", f.otlp))
	}
	errs = append(errs, ifAny("sip", f.sip))
	if f.linkURL != "" {
		errs = append(errs, linkBase(f.linkURL))
	}
	for flag, list := range map[string][]string{"trusted-proxies": f.trustedProxies, "sip-peers": f.sipPeers} {
		for _, p := range list {
			_, err1 := netip.ParsePrefix(p)
			if _, err2 := netip.ParseAddr(p); err1 != nil && err2 != nil {
				errs = append(errs, usagef("--%s %q: must be an address or a CIDR prefix", flag, p))
			}
		}
	}
	return append(errs, boardsFlag(f.boards, 0))
}

func isURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

// linkBase reports what can't be put in front of /entry: a query or fragment would swallow it, and a password would be in every link.
func linkBase(s string) error {
	if !isURL(s) {
		return usagef("--link-url %q: must be a URL like https://doors.example.com", s)
	}
	if u, _ := url.Parse(s); u.User != nil {
		return usagef("--link-url: must have no user name or password, because it is part of every entry link")
	}
	if strings.ContainsAny(s, "?#") {
		return usagef("--link-url %q: must have no query or fragment, because entry links continue it with /entry?t=...", s)
	}
	return nil
}

// places returns the world from the file, or the built-in one. Its seed is the
// flag's, else the one stored in the data directory, else the file's, else 1.
func (f *serverFlags) places(ctx context.Context) (w *world.World, fileSeed int64, err error) {
	var seed, made int64
	if f.data != "" {
		seed, made = testbed.RememberedSeed(f.data)
	}
	if f.world == "" {
		return world.Default(cmp.Or(f.seed, seed, 1), f.boards), 0, nil
	}
	if w, err = loadWorld(ctx, f.world, 0); err != nil {
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
	w, err = loadWorld(ctx, f.world, want)
	return w, fileSeed, err
}

// logger writes to stderr: coloured on a terminal, JSON elsewhere.
func logger(e *env, level slog.Level, verbose bool) *slog.Logger {
	if verbose {
		level = slog.LevelDebug
	}
	if fd, ok := e.err.(*os.File); ok && isatty.IsTerminal(fd.Fd()) {
		return slog.New(tint.NewTextHandler(fd, &tint.Options{Level: level}))
	}
	return slog.New(slog.NewJSONHandler(e.err, &slog.HandlerOptions{Level: level}))
}
