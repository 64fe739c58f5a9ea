package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/testbed"
	"github.com/doorlab/doorlab/internal/world"
)

// targetFlags say what check and load run against: a deployment, or, without
// --target, a testbed of their own in this process.
type targetFlags struct {
	target  string
	control []string
	tokens  []string
	keys    []string

	boards  int
	world   string
	seed    int64
	link    string
	data    string
	verbose bool
}

func (f *targetFlags) add(c *cobra.Command, boards int) {
	s := c.Flags()
	s.StringVar(&f.target, "target", "", "base address of a running server (default: a testbed in this process)")
	s.StringSliceVar(&f.control, "control", nil, "control API of the target; repeat for each process, server and boards")
	s.StringSliceVar(&f.tokens, "control-token", nil, "their bearer tokens, one for all or one each, in the same order")
	s.StringSliceVar(&f.keys, "key", nil, "API keys of the target's places (default: asked from the control API)")
	s.IntVar(&f.boards, "boards", boards, "simulated boards of live places (testbed)")
	s.StringVar(&f.world, "world", "", "world file (testbed)")
	s.Int64Var(&f.seed, "seed", 0, "derives ids, keys and every choice of the run (default 1)")
	s.StringVar(&f.link, "link", testbed.Memory, "memory or tcp (testbed)")
	s.StringVar(&f.data, "data", "", "data directory (testbed; default: a temporary one)")
	s.BoolVarP(&f.verbose, "verbose", "v", false, "say more")
}

// aim is a target that is ready to be used.
type aim struct {
	http    string
	control []string // the server's first
	tokens  []string // one each
	places  []client.Place
	boards  int  // simulated here; 0 = unknown
	own     bool // a testbed of this process
	stop    func() error
}

func (f *targetFlags) check() error {
	if err := oneOf("link", f.link, testbed.Memory, testbed.TCP); err != nil {
		return err
	}
	if f.boards < 0 || f.boards > 20000 {
		return usagef("--boards %d: must be 0 to 20000", f.boards)
	}
	if f.target == "" && len(f.control) > 0 {
		return usagef("--control needs --target: the address of the server's API")
	}
	if f.target != "" && !strings.HasPrefix(f.target, "http://") && !strings.HasPrefix(f.target, "https://") {
		return usagef("--target %q: must begin with http:// or https://", f.target)
	}
	for i, base := range f.control {
		f.control[i] = baseURL(base)
	}
	if n := len(f.tokens); n > 1 && n != len(f.control) {
		return usagef("--control-token: %d tokens for %d control addresses; give one for all or one each", n, len(f.control))
	}
	return nil
}

// baseURL takes host:port too, as the server's own --control does.
func baseURL(s string) string {
	if !strings.Contains(s, "://") {
		s = "http://" + s
	}
	return strings.TrimSuffix(s, "/")
}

// open makes the target ready. virtual: a testbed gets virtual time.
func (f *targetFlags) open(ctx context.Context, e *env, virtual bool) (*aim, error) {
	if f.target != "" {
		return f.remote(ctx)
	}
	return f.testbed(ctx, e, virtual)
}

func (f *targetFlags) testbed(ctx context.Context, e *env, virtual bool) (*aim, error) {
	seed := max(f.seed, 1)
	var w *world.World
	if f.world != "" {
		var err error
		if w, err = loadWorld(f.world, f.seed); err != nil {
			return nil, err
		}
	} else {
		w = world.Default(seed, f.boards)
	}
	dir, cleanup, err := dataDir(f.data)
	if err != nil {
		return nil, err
	}
	debug.SetGCPercent(400) // with thousands of boards the tail is the collector scanning stacks
	fmt.Fprintf(e.err, "starting a server and %d boards ...\n", w.LiveBoards()+w.TestBoards())
	tb, err := testbed.Start(ctx, testbed.Config{World: w, Fleet: true, Link: f.link, Virtual: virtual, DataDir: dir,
		Control: "127.0.0.1:0", Progress: progress(e), Log: logger(e, f.verbose)})
	if err != nil {
		cleanup()
		return nil, startError(ctx, err)
	}
	a := &aim{http: tb.Ready.HTTP, control: []string{tb.Ready.Control}, tokens: []string{tb.Ready.ControlToken}, boards: tb.Boards(), own: true,
		stop: func() error { defer cleanup(); return tb.Stop() }}
	if err := a.askPlaces(ctx); err != nil {
		return nil, errors.Join(err, a.stop())
	}
	return a, nil
}

func (f *targetFlags) remote(ctx context.Context) (*aim, error) {
	a := &aim{http: strings.TrimSuffix(f.target, "/"), stop: func() error { return nil }}
	for i, base := range f.control {
		a.control = append(a.control, base)
		token := ""
		switch len(f.tokens) {
		case 0:
		case 1:
			token = f.tokens[0]
		default:
			token = f.tokens[i]
		}
		a.tokens = append(a.tokens, token)
	}
	if len(a.control) == 0 && len(f.keys) == 0 {
		if err := (client.Client{Base: a.http}).Do(ctx, http.MethodGet, "/livez", nil, nil); errors.Is(err, client.ErrUnreachable) {
			return nil, callError(err)
		}
		return nil, usagef("--target needs --control (with --control-token) or --key, to know the places")
	}
	if len(a.control) > 0 {
		if err := a.serverFirst(ctx); err != nil {
			return nil, err
		}
		if err := a.introduce(ctx); err != nil {
			return nil, callError(err)
		}
		if err := a.align(ctx); err != nil {
			return nil, err
		}
	}
	if len(f.keys) > 0 {
		return a, a.fromKeys(ctx, f.keys)
	}
	return a, a.askPlaces(ctx)
}

func (a *aim) lab(i int) client.Client { return client.Client{Base: a.control[i], Token: a.tokens[i]} }

// serverFirst puts the server's control API, the one that knows the places, in front.
func (a *aim) serverFirst(ctx context.Context) error {
	for i := range a.control {
		_, err := a.lab(i).Places(ctx)
		var fail *client.Error
		switch {
		case err == nil:
			a.control[0], a.control[i] = a.control[i], a.control[0]
			a.tokens[0], a.tokens[i] = a.tokens[i], a.tokens[0]
			return nil
		case !errors.As(err, &fail) || fail.Status != http.StatusNotFound:
			return callError(err)
		}
	}
	return usagef("--control: none of %s is a server's", strings.Join(a.control, ", "))
}

// askPlaces learns the places from the server's control API. One whose key was revoked gets a new one for this run.
func (a *aim) askPlaces(ctx context.Context) error {
	c := a.lab(0)
	places, err := c.Places(ctx)
	if err != nil {
		return callError(err)
	}
	for _, p := range places {
		if p.APIKey == nil {
			var out struct{ APIKey string }
			body := map[string]any{"placeId": p.PlaceID, "name": "doorlab", "scopes": []string{"space:partner", "device:door"}}
			if err := c.Do(ctx, http.MethodPost, "/lab/v1/keys", body, &out); err != nil {
				return callError(err)
			}
			p.APIKey = &out.APIKey
		}
		a.places = append(a.places, p)
	}
	return nil
}

// fromKeys learns the places from their keys: all that works without a control API.
func (a *aim) fromKeys(ctx context.Context, keys []string) error {
	c := client.Client{Base: a.http}
	for _, k := range keys {
		_, placeID, err := c.Exchange(ctx, k)
		if err != nil {
			var fail *client.Error
			if errors.As(err, &fail) && fail.Status == http.StatusUnauthorized {
				return usagef("--key: the target does not take the key that ends in %q", k[max(0, len(k)-4):])
			}
			return callError(err)
		}
		kind := world.Live
		if strings.HasPrefix(k, "sact_") {
			kind = world.Test
		}
		a.places = append(a.places, client.Place{PlaceID: placeID, Name: placeID, Kind: kind, APIKey: &k})
	}
	return nil
}
