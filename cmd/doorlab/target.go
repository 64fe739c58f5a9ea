package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/listen"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/loadtest"
	"github.com/doorlab/doorlab/testbed"
)

// targetFlags say what check and load run against: a deployment, or, without
// --target, a testbed of their own in this process.
type targetFlags struct {
	target  string
	control []string
	tokens  []string
	files   []string // of tokens
	keys    []string
	trust   trust

	boards  int
	world   string
	seed    int64
	link    string
	client  string
	data    string
	verbose bool
	quiet   bool // no progress

	report *loadtest.Report // how soon the testbed's live boards report; nil = as boards do

	all bool // every file's world has as many boards as --boards says, not only fleets

	made *world.World // of the testbed, or of own; nil = as the flags say
	own  *ownFleet    // the target's boards, in this process; nil = they are elsewhere
}

func (f *targetFlags) add(c *cobra.Command, boards int) {
	s := c.Flags()
	s.StringVar(&f.target, "target", "", "base URL of a running server (default: a testbed in this process)")
	s.StringSliceVar(&f.control, "control", nil, "control API of the target; repeat for each process (server and boards)")
	s.StringSliceVar(&f.tokens, "control-token", nil, "bearer tokens of the control APIs: one for all, or one for each in the same order")
	s.StringSliceVar(&f.files, "control-token-file", nil, "files with the control tokens, instead of --control-token: one for all, or one for each")
	f.trust.add(c)
	s.StringSliceVar(&f.keys, "key", nil, "API keys of the target's places (default: read from the control API)")
	s.IntVar(&f.boards, "boards", boards, "number of simulated boards (not with --world)")
	s.StringVar(&f.world, "world", "", "world file of the testbed (default: the built-in world)")
	s.Var((*seedValue)(&f.seed), "seed", "seed for ids, keys and every random choice of the run (default: 1)")
	s.StringVar(&f.link, "link", testbed.Memory, "how the testbed's boards reach the broker: memory or tcp")
	s.StringVar(&f.client, "client", testbed.Paho, clientUsage)
	s.StringVar(&f.data, "data", "", "data directory of the testbed, empty or new; it gets one subdirectory per world (default: temporary, removed on exit)")
	s.BoolVarP(&f.verbose, "verbose", "v", false, "log more to stderr")
}

// aim is a target that is ready to be used.
type aim struct {
	http    string
	control []string // the server's first
	tokens  []string // one each
	trust   *tls.Config
	web     *http.Client       // of every call; nil = the default
	marks   []history.Position // of each: where in its recording this run begins; nil = the target is this run's own
	places  []client.Place
	ahead   time.Duration    // as engine.Target's
	report  *loadtest.Report // how soon its simulated boards report; nil = unknown
	stop    func() error
}

func (f *targetFlags) check() error {
	if err := cmp.Or(oneOf("link", f.link, testbed.Memory, testbed.TCP), oneOf("client", f.client, testbed.Paho, testbed.Light), boardsFlag(f.boards, 1)); err != nil {
		return err
	}
	if f.target == "" && len(f.control) > 0 {
		return usagef("--control is set, but --target isn't: pass --target, the URL of the server's API, or leave out --control to use a testbed")
	}
	if f.target != "" {
		if err := serverURL("target", f.target); err != nil {
			return err
		}
	}
	for i, base := range f.control {
		f.control[i] = baseURL(base)
		if err := serverURL("control", f.control[i]); err != nil {
			return err
		}
		if slices.Contains(f.control[:i], f.control[i]) {
			return usagef("--control %s is given twice", f.control[i])
		}
	}
	if err := f.readTokens(); err != nil {
		return err
	}
	if n := len(f.tokens); n > 1 && n != len(f.control) {
		return usagef("--control-token: %s, but %s; give one for all, or one for each", amount.Many(n, "token"), amount.Many(len(f.control), "control API"))
	}
	return nil
}

// readTokens puts the tokens of the files in the place of those given.
func (f *targetFlags) readTokens() error {
	for i, file := range f.files {
		given := ""
		if i == 0 {
			given = strings.Join(f.tokens, ",")
		}
		token, err := secretOf(given, file)
		if err != nil {
			return err
		}
		f.tokens = append(f.tokens, token)
	}
	for _, token := range f.tokens {
		if _, err := secretOf(token, ""); err != nil {
			return err
		}
	}
	return nil
}

// serverURL checks the URL of a running server, which paths are appended to.
func serverURL(flag, s string) error {
	scheme, _, _ := strings.Cut(strings.ToLower(s), "://")
	switch {
	case s == "":
		return usagef("--%s is empty: it must be a URL like http://127.0.0.1:8080", flag)
	case scheme != "http" && scheme != "https":
		return usagef("--%s %q: must start with http:// or https://", flag, s)
	case strings.ContainsAny(s, "?#"):
		return usagef("--%s %q: must have no query or fragment, because paths are appended to it", flag, s)
	case !isURL(s):
		return usagef("--%s %q: must be a URL like http://127.0.0.1:8080", flag, s)
	}
	return nil
}

// baseURL takes host:port too, as the server's own --control does, and the address with the prefix, as curl needs it.
func baseURL(s string) string {
	if s == "" {
		return ""
	}
	if !strings.Contains(s, "://") {
		s = "http://" + s
	}
	return strings.TrimSuffix(strings.TrimSuffix(s, "/"), control.Prefix)
}

// open makes the target ready. virtual: a testbed gets virtual time.
func (f *targetFlags) open(ctx context.Context, e *env, virtual bool) (*aim, error) {
	if f.target != "" {
		return f.remote(ctx)
	}
	return f.testbed(ctx, e, virtual)
}

// testbed starts a world of the file, or of so many boards, in a directory.
func (f *targetFlags) testbed(ctx context.Context, e *env, virtual bool) (*aim, error) {
	dir, cleanup, err := dataDir(f.data)
	if err != nil {
		return nil, err
	}
	w := f.made
	if w == nil {
		w, err = f.places(ctx, f.boards)
	}
	if err != nil {
		cleanup()
		return nil, err
	}
	c := testbed.Config{World: w, Virtual: virtual, DataDir: dir}
	if !f.quiet {
		fmt.Fprintf(e.err, "starting a server and %s ...\n", amount.Many(w.LiveBoards()+w.TestBoards(), "board"))
		c.Progress = progress(e)
	}
	a, err := f.begin(ctx, e, c)
	if err != nil {
		cleanup()
		return nil, err
	}
	a.report = reportOf(w)
	stop := a.stop
	a.stop = func() error { defer cleanup(); return stop() }
	return a, nil
}

// places is the world to simulate.
func (f *targetFlags) places(ctx context.Context, boards int) (*world.World, error) {
	if f.world != "" {
		return loadWorld(ctx, f.world, f.seed)
	}
	w := world.Default(max(f.seed, 1), boards)
	for i := range w.Places {
		if p := &w.Places[i]; p.Kind == world.Live && f.report != nil {
			p.Report = &world.Report{P50: time.Duration(f.report.P50), P99: time.Duration(f.report.P99)}
		}
	}
	return w, nil
}

func (f *targetFlags) begin(ctx context.Context, e *env, c testbed.Config) (*aim, error) {
	if f.link == testbed.TCP {
		if err := overTCP(c.World.LiveBoards()+c.World.TestBoards(), listen.Descriptors(), true); err != nil {
			return nil, err
		}
	}
	debug.SetGCPercent(400) // with thousands of boards the tail is the collector scanning stacks
	c.Version, c.Fleet, c.Link, c.Client, c.Control, c.Long = version(), true, f.link, f.client, "127.0.0.1:0", true
	c.Log = logger(e, slog.LevelError, f.verbose) // what it warns of is what the run does to it
	c.StopWithin, c.Interrupted, c.Late = stopWithin, ctx, lateServer(e)
	tb, err := testbed.Start(ctx, c)
	if err != nil {
		return nil, startError(ctx, err)
	}
	a := &aim{http: tb.Ready.HTTP, control: []string{tb.Ready.Control}, tokens: []string{tb.Ready.ControlToken}, stop: tb.Stop}
	if err := a.askPlaces(ctx); err != nil {
		return nil, errors.Join(err, a.stop())
	}
	return a, nil
}

// token is the one for a control address: its own, or the one for all; "" if there is none.
func (f *targetFlags) token(i int) string {
	if len(f.tokens) > 1 {
		return f.tokens[i]
	}
	return strings.Join(f.tokens, "")
}

func (f *targetFlags) remote(ctx context.Context) (_ *aim, err error) {
	a := &aim{http: strings.TrimSuffix(f.target, "/"), stop: func() error { return nil }}
	if a.trust, err = f.trust.config(); err != nil {
		return nil, err
	}
	a.web = client.Trusting(a.trust)
	for i, base := range f.control {
		a.control, a.tokens = append(a.control, base), append(a.tokens, f.token(i))
	}
	if len(a.control) == 0 && len(f.keys) == 0 && f.own == nil {
		if err := (client.Client{Base: a.http, HTTP: a.web}).Do(ctx, http.MethodGet, "/livez", nil, nil); errors.Is(err, client.ErrUnreachable) {
			return nil, targetError(a.http, err)
		}
		return nil, usagef("--target needs --control (with --control-token) or --key to find the places")
	}
	server := len(a.control) > 0
	if err := a.admitted(ctx); err != nil {
		return nil, err
	}
	if server {
		if err := a.serverFirst(ctx); err != nil {
			return nil, err
		}
	}
	if f.own != nil {
		a.control, a.tokens = append(a.control, f.own.Ready.Control), append(a.tokens, f.own.Ready.ControlToken)
	}
	if server {
		if err := a.introduce(ctx); err != nil {
			return nil, callError(err)
		}
		if err := a.align(ctx); err != nil {
			return nil, err
		}
	}
	if len(a.control) > 0 {
		if err := a.record(ctx); err != nil {
			return nil, err
		}
	}
	if !server { // boards of this process alone: their whole lives are the run's
		a.marks = nil
	}
	switch {
	case len(f.keys) > 0:
		err = a.fromKeys(ctx, f.keys)
	case server:
		err = a.askPlaces(ctx)
	default:
		a.places = f.own.places()
	}
	if err != nil {
		return nil, errors.Join(err, a.stop())
	}
	return a, nil
}

func (a *aim) lab(i int) client.Client {
	return client.Client{Base: a.control[i], Token: a.tokens[i], HTTP: a.web}
}

// askPlaces learns the places from the server's control API. One whose key was revoked gets a new one until a.stop.
func (a *aim) askPlaces(ctx context.Context) error {
	c := a.lab(0)
	var made []string
	stop := a.stop
	a.stop = func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWithin)
		defer cancel()
		for _, id := range made {
			_ = c.Do(ctx, http.MethodDelete, control.Prefix+"/keys/"+id, nil, nil) // the target may be gone
		}
		return stop()
	}
	places, err := c.Places(ctx)
	if err != nil {
		return callError(err)
	}
	for _, p := range places {
		if p.APIKey == nil {
			var out struct{ KeyID, APIKey string }
			body := map[string]any{"placeId": p.PlaceID, "name": "doorlab", "scopes": []string{"space:partner", "device:door"}}
			if err := c.Do(ctx, http.MethodPost, control.Prefix+"/keys", body, &out); err != nil {
				return callError(err)
			}
			p.APIKey, made = &out.APIKey, append(made, out.KeyID)
		}
		a.places = append(a.places, p)
	}
	return nil
}
