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
	s.StringSliceVar(&f.control, "control", nil, "control API of the target, the server's first; repeat for each process")
	s.StringSliceVar(&f.tokens, "control-token", nil, "their bearer tokens, one for all or one each")
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
	http, token string
	control     []string
	places      []client.Place
	boards      int  // simulated here; 0 = unknown
	own         bool // a testbed of this process
	stop        func() error
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
	if n := len(f.tokens); n > 1 && n != len(f.control) {
		return usagef("--control-token: %d tokens for %d control addresses; give one for all or one each", n, len(f.control))
	}
	return nil
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
		if w, err = world.Load(f.world, f.seed); err != nil {
			return nil, usagef("--world: %s", reason(err))
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
		Control: "127.0.0.1:0", Log: logger(e, f.verbose)})
	if err != nil {
		cleanup()
		return nil, startError(ctx, err)
	}
	a := &aim{http: tb.Ready.HTTP, control: []string{tb.Ready.Control}, token: tb.Ready.ControlToken, boards: tb.Boards(), own: true,
		stop: func() error { defer cleanup(); return tb.Stop() }}
	for _, p := range tb.Ready.Places {
		a.places = append(a.places, client.Place{PlaceID: p.PlaceID, Name: p.Name, Kind: p.Kind, APIKey: p.APIKey, EntryPhone: p.EntryPhone})
	}
	return a, nil
}

func (f *targetFlags) remote(ctx context.Context) (*aim, error) {
	a := &aim{http: strings.TrimSuffix(f.target, "/"), control: f.control, stop: func() error { return nil }}
	if len(f.tokens) > 0 {
		a.token = f.tokens[0]
	}
	if len(f.keys) > 0 {
		return a, a.fromKeys(ctx, f.keys)
	}
	if len(f.control) == 0 {
		return nil, usagef("--target needs --control (with --control-token) or --key, to know the places")
	}
	c := client.Client{Base: f.control[0], Token: a.token}
	places, err := c.Places(ctx)
	if err != nil {
		return nil, callError(err)
	}
	for _, p := range places {
		if p.APIKey == nil { // revoked: a new one for this run
			var out struct{ APIKey string }
			body := map[string]any{"placeId": p.PlaceID, "name": "doorlab", "scopes": []string{"space:partner", "device:door"}}
			if err := c.Do(ctx, http.MethodPost, "/lab/v1/keys", body, &out); err != nil {
				return nil, callError(err)
			}
			p.APIKey = &out.APIKey
		}
		a.places = append(a.places, p)
	}
	return a, nil
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
