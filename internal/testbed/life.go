package testbed

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/doorlab/doorlab/boardsim/link"
	"github.com/doorlab/doorlab/internal/controlapi"
	"github.com/doorlab/doorlab/server"
)

// life is one life of the server: a restart ends it and begins the next on the
// same data, behind the same addresses.
type life struct {
	server  *server.Server
	public  http.Handler
	control http.Handler
	memory  *link.Listener // boards in memory dial it
	mqtt    net.Listener   // the address of the others, which outlives the server
}

var errRestarting = errors.New("the server is restarting")

// begin starts the server and serves its boards.
func (t *Testbed) begin(mqtt net.Listener, sip string) error {
	linkURL := t.cfg.LinkURL
	if linkURL == "" {
		linkURL = t.Ready.HTTP
	}
	s, err := server.New(server.Config{
		DataDir: t.cfg.DataDir, World: t.cfg.World, Clock: t.clk, Flight: t.flight, History: t.History.Append,
		Counted: func(boardID string) bool { f := t.boards.Load(); return f != nil && f.Simulates(boardID) },
		LinkURL: linkURL, TrustedProxies: t.cfg.TrustedProxy, SIP: sip, CrashPoints: t.cfg.CrashPoints, Log: t.cfg.Log,
	})
	if errors.Is(err, server.ErrOtherWorld) {
		return fmt.Errorf("%w (%s); use another --data, or the --seed and world it was made with", ErrOtherWorld, t.cfg.DataDir)
	}
	if err != nil {
		return err
	}
	l := &life{server: s, public: s.Handler(), memory: link.NewListener("boards"), mqtt: mqtt}
	if t.Ready.ControlToken != "" {
		l.mountControl(t, t.Ready.ControlToken)
	}
	t.life.Store(l)
	t.serve("the broker", func() error { return s.ServeMQTT(lend(mqtt)) })
	t.serve("the memory link", func() error { return s.ServeMQTT(l.memory) })
	return nil
}

func (l *life) mountControl(t *Testbed, token string) {
	l.control = controlapi.Handler(token, func(r chi.Router) {
		l.server.Control(r, t.controlHooks())
		t.fleet.Routes(r)
		r.Get("/revisions", t.revisions)
		r.Post("/restart", func(w http.ResponseWriter, _ *http.Request) {
			if err := t.Restart(); err != nil {
				controlapi.Fail(w, http.StatusInternalServerError, "internal_error", "the server did not come back: "+err.Error(), nil)
				return
			}
			controlapi.Data(w, map[string]any{"restarted": true})
		})
	})
}

// Restart ends the server and starts it anew on the same data, and returns when
// the boards are back. Commands that wait for a board are answered 504; calls
// that come in meanwhile get 503.
func (t *Testbed) Restart() error {
	t.restart.Lock()
	defer t.restart.Unlock()
	old := t.life.Load()
	if old == nil {
		return errRestarting
	}
	back := t.flight.Begin() // a jump waits
	err := t.again(old)
	back()
	if err != nil {
		return err
	}
	t.flight.Settle()
	return nil
}

func (t *Testbed) again(old *life) error {
	t.life.Store(nil)
	if err := old.server.Stop(); err != nil {
		return err
	}
	return t.begin(old.mqtt, t.Ready.SIP)
}

// now serves what the current life has for it; 503 during a restart.
func (t *Testbed) now(of func(*life) http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l := t.life.Load()
		if l == nil {
			w.Header().Set("Retry-After", "1")
			controlapi.Fail(w, http.StatusServiceUnavailable, "storage_unavailable", "the server is restarting; try again", nil)
			return
		}
		of(l).ServeHTTP(w, r)
	})
}

func (t *Testbed) dialMemory(ctx context.Context, _ string) (net.Conn, error) {
	l := t.life.Load()
	if l == nil {
		return nil, errRestarting
	}
	return l.memory.Dial(ctx)
}

func (t *Testbed) desired(boardID string) int64 {
	if l := t.life.Load(); l != nil {
		return l.server.Desired(boardID)
	}
	return 0
}

// revisions answers each place's current revision: what a fleet in a process of its own cannot know.
func (t *Testbed) revisions(w http.ResponseWriter, _ *http.Request) {
	out := map[string]int64{}
	for _, p := range t.cfg.World.Places {
		if len(p.Boards) > 0 {
			out[p.ID] = t.desired(p.Boards[0].ID)
		}
	}
	controlapi.Data(w, out)
}
