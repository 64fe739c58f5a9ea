package testbed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/doorlab/doorlab/boardsim"
	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/control/openapi"
	"github.com/doorlab/doorlab/internal/datadir"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/faults"
	"github.com/doorlab/doorlab/internal/pipe"
	"github.com/doorlab/doorlab/server"
	"github.com/doorlab/doorlab/server/board"
)

// What ends in which order, and why:
//
//   - Testbed.Stop: first the HTTP listeners (hangUp), while server and boards can still answer whoever waits. Then the
//     boards, which disconnect properly and write their flash. Then the server, which stores what they sent last; a restart
//     in progress is waited for, but not its boards, and none begins any more. Then what all of them used, as onStop lists it: the tracer, the
//     listeners, the history, the inbox. Last the lock of the data directory.
//     The boards' goodbyes aren't waited for beyond a second or two, nor is the server's end with Config.StopWithin: whatever
//     was answered is committed by then, and boards keep what the server hasn't acknowledged. The lock of a server that is
//     late stays until it has ended.
//   - Testbed.Restart: the life is taken out, so that calls get 503 and boards that dial are refused. Then its server stops
//     from the edges inwards (server.Stop); commands that wait are answered 504. Listeners, boards, history and inbox stay:
//     the broker's listener is only lent.
//   - Testbed.Kill: the same, but the life is dead before anything ends, so that no answer goes out any more (mortal), and
//     the store closes first, so that nothing more is written (server.Kill).
//   - A start that fails ends like Stop, with what exists by then; it doesn't change the clock's memory.

// life is one run of the server: a restart ends it and begins the next on the same data, at the same addresses.
type life struct {
	server  *server.Server
	public  http.Handler
	control http.Handler
	memory  *pipe.Listener // boards in memory dial it
	mqtt    net.Listener   // the listener of the others, which outlives the server
	dead    atomic.Bool    // killed, not stopped
}

var errRestarting = errors.New("the server is restarting")

// begin starts the server and serves its boards.
func (t *Testbed) begin(mqtt net.Listener, sip string) error {
	linkURL := cmp.Or(t.cfg.LinkURL, t.Ready.HTTP)
	s, err := server.New(server.Config{
		DataDir: t.cfg.DataDir, World: t.cfg.World, Version: t.cfg.Version, Clock: t.clk, Flight: t.flight, History: t.told(), Recording: t.recording, Retention: t.cfg.Retention,
		Counted: func(boardID string) bool { f := t.boards.Load(); return f != nil && f.Simulates(boardID) },
		Rotated: t.rotated, Simulated: t.simulated, Watch: t.watch(), Spans: t.spans,
		Console: t.consoleURL, LinkURL: linkURL, BaseURL: t.cfg.LinkURL, TrustedProxies: t.cfg.TrustedProxy, SIP: sip, SIPPeers: t.cfg.SIPPeers, Failed: t.fail, Greet: t.caps.greet, CrashPoints: t.cfg.CrashPoints, Inbox: t.inbox, Before: t.away.Load(), Wait: t.cfg.Wait, NotAfter: t.cfg.NotAfter, Coalesce: t.cfg.Coalesce, Unchecked: t.cfg.LookOnce && t.lives.Load() > 0, Log: t.cfg.Log,
	})
	if errors.Is(err, server.ErrOtherWorld) {
		return fmt.Errorf("%w (%s): %s; use another --data, or the --seed and world it was made with", ErrOtherWorld, t.cfg.DataDir,
			strings.TrimPrefix(err.Error(), server.ErrOtherWorld.Error()+": "))
	}
	if errors.Is(err, server.ErrForeign) {
		return fmt.Errorf("%w: %s and %s in %s don't belong together; restore the backup of both", datadir.ErrForeign, datadir.DatabaseFile, datadir.SecretFile, t.cfg.DataDir)
	}
	if err != nil {
		return err
	}
	l := &life{server: s, memory: pipe.NewListener("boards"), mqtt: mqtt}
	l.public = l.mortal(s.Handler())
	if t.Ready.ControlToken != "" {
		l.mountControl(t, t.Ready.ControlToken)
	}
	if t.feed != nil {
		t.feed.Restarted()
	}
	t.away.Store(s)
	t.life.Store(l)
	t.serve("the broker", func() error { return s.ServeMQTT(t.certs.mqtt.Listen(t.caps.broker.On(lend(mqtt)))) })
	t.serve("the memory link", func() error { return s.ServeMQTT(l.memory) })
	return nil
}

// behind is how long boards have been lacking a change; nil during a restart.
func (l *life) behind() map[string]time.Duration {
	if l == nil {
		return nil
	}
	return l.server.Behind()
}

func (l *life) mountControl(t *Testbed, token string) {
	l.control = control.Handler(token, func(r chi.Router) {
		openapi.Route(r, openapi.Server)
		l.server.Control(r, t.controlHooks())
		t.fleet.Routes(r)
		r.Get("/revisions", t.revisions)
		r.Get("/seats/{id}", t.showSeat)
		r.Post("/clock/settle", t.settle)
		r.Post("/connections/ended", t.awaitEnded)
		r.Get("/restart", t.getRestart)
		r.Post("/restart", t.postRestart)
		r.Delete("/restart", t.deleteRestart)
	})
}

// Restart stops the server and starts it again on the same data. It returns when the boards are back. Commands waiting
// for a board are answered 504; calls that arrive during the restart get 503.
func (t *Testbed) Restart() error { return t.next(t.life.Load(), false) }

// next ends a life, unless that was done already, and begins the next. If there is none, the testbed has failed.
func (t *Testbed) next(old *life, kill bool) error {
	t.restart.Lock()
	defer t.restart.Unlock()
	if old == nil || !t.life.CompareAndSwap(old, nil) {
		return errRestarting
	}
	back := t.flight.Begin() // a jump waits
	online := t.fleet.Online()
	err := old.end(kill)
	if err == nil {
		err = t.begin(old.mqtt, t.Ready.SIP)
	}
	back()
	if err != nil {
		t.fail(fmt.Errorf("the server did not come back: %w", err))
		return err
	}
	t.await(online)
	if t.stopping.Err() == nil { // boards that have been stopped answer nothing any more
		t.flight.SettleWithin(quietWithin)
	}
	t.lives.Add(1)
	return nil
}

// How long boards have to come back after a restart, how often they are counted, and for how long a restart waits until
// nothing is in flight: under load, there always is something.
const (
	backWithin  = 10 * time.Second
	backLook    = 5 * time.Millisecond
	quietWithin = 6 * time.Second // more than a lost message takes to be given up
)

// await returns when that many boards are online at the new life, when they have had their time, or when the testbed stops.
// The fleet's own count isn't enough: a board learns late that its connection ended.
func (t *Testbed) await(online int) {
	s := t.life.Load().server
	ctx, cancel := context.WithTimeout(t.stopping, backWithin)
	defer cancel()
	for s.Online() < online && client.Pause(ctx, backLook) == nil {
	}
}

// api serves the current life's public API; during a restart, the previous one's answers 503.
func (t *Testbed) api() http.Handler {
	return t.afterJump(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if l := t.life.Load(); l != nil {
			l.public.ServeHTTP(w, r)
			return
		}
		t.away.Load().Away().ServeHTTP(w, r)
	}))
}

// now serves the current life's handler; 503 during a restart.
func (t *Testbed) now(of func(*life) http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l := t.life.Load()
		if l == nil {
			w.Header().Set("Retry-After", "1")
			control.Fail(w, http.StatusServiceUnavailable, "storage_unavailable", "the server is restarting; try again", nil)
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

// seat is what the server knows about a board, simulated or not.
func (t *Testbed) seat(boardID string) (out boardsim.Seat) {
	l := t.life.Load()
	if l == nil {
		return out
	}
	s := l.server.Board(boardID)
	out = boardsim.Seat{Online: s.State == board.Online, AppliedRevision: s.AppliedRevision, BufferedRecords: s.Buffered, DroppedRecords: s.Dropped, Dropped: s.Drops}
	out.Troubles = each.Of(s.Troubles, func(x board.Trouble) control.Trouble {
		return control.Trouble{At: faults.Moment{Time: x.At}, Reason: x.Reason, Channel: x.Channel, Field: x.Field, Count: x.Count}
	})
	if !s.Since.IsZero() {
		out.Since = s.Since.UnixMilli()
	}
	for _, channel := range slices.Sorted(maps.Keys(s.Standings)) {
		st := s.Standings[channel].Standing
		st.Channel = channel
		out.Standings = append(out.Standings, st)
	}
	return out
}

// showSeat answers with a board's seat; 404 for a board that the server doesn't know.
func (t *Testbed) showSeat(w http.ResponseWriter, r *http.Request) {
	id := chi.URLParam(r, "id")
	if l := t.life.Load(); l != nil && l.server.Board(id).PlaceID == "" {
		control.Fail(w, http.StatusNotFound, "board_not_found", fmt.Sprintf("board %q not found", id), nil)
		return
	}
	control.Data(w, t.seat(id))
}

// rotated gives a simulated board its new password: in the world, for boards that are built later, and in the fleet.
func (t *Testbed) rotated(boardID, password string) {
	if f := t.boards.Load(); f != nil {
		f.SetPassword(boardID, password)
		return
	}
	for i := range t.cfg.World.Places { // before the fleet is built
		for j := range t.cfg.World.Places[i].Boards {
			if b := &t.cfg.World.Places[i].Boards[j]; b.ID == boardID {
				b.Password = password
			}
		}
	}
}

// revisions answers with each place's current revision, which a fleet in another process can't know.
func (t *Testbed) revisions(w http.ResponseWriter, _ *http.Request) {
	out := map[string]int64{}
	for _, p := range t.cfg.World.Places {
		if len(p.Boards) > 0 {
			out[p.ID] = t.desired(p.Boards[0].ID)
		}
	}
	control.Data(w, out)
}
