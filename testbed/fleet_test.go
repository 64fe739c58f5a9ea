package testbed

import (
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/world"
)

// exhausted is a listener that can't accept connections any more.
type exhausted struct{ net.Listener }

func (exhausted) Accept() (net.Conn, error) { return nil, errors.New("no more connections") }

// TestFleetWithoutControlFails: a fleet whose control listener dies says so, as a server does. One that is stopped doesn't.
func TestFleetWithoutControlFails(t *testing.T) {
	t.Parallel()
	f := &Fleet{failed: make(chan error, 1), control: &http.Server{}}
	f.serve(exhausted{must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)})
	if err := <-f.Failed(); err == nil || !strings.Contains(err.Error(), "the control API ended: no more connections") {
		t.Errorf("got %v, want that the control API ended", err)
	}
	stopped := &Fleet{failed: make(chan error, 1), control: &http.Server{}}
	must.OK(t, stopped.control.Close())
	stopped.serve(must.Get(net.Listen("tcp", "127.0.0.1:0"))(t))
	if len(stopped.failed) > 0 {
		t.Errorf("got %v from a listener that was closed, want nothing", <-stopped.failed)
	}
}

// TestFleetKnowsItsServer: a fleet in another process that knows its server's control API shows what the server knows about
// the board in a detached one's place, without anybody introducing the two.
func TestFleetKnowsItsServer(t *testing.T) {
	t.Parallel()
	w := world.Default(1, 2)
	s := must.Get(Start(t.Context(), Config{World: w, Seeded: true, DataDir: t.TempDir(), Control: "127.0.0.1:0", ControlToken: "token"}))(t)
	t.Cleanup(func() { _ = s.Stop() })
	f := must.Get(StartFleet(t.Context(), FleetConfig{World: w, Broker: strings.TrimPrefix(s.Ready.MQTT, "tcp://"), Control: "127.0.0.1:0", ControlToken: "token",
		Server: s.Ready.Control, DataDir: t.TempDir()}))(t)
	t.Cleanup(func() { _ = f.Stop() })
	c := client.Client{Base: f.Ready.Control, Token: "token"}
	id := w.Places[1].Boards[0].ID
	clienttest.Do(t, c, http.MethodPost, "/lab/v1/boards/"+id+"/detach", nil, nil)
	var b struct {
		Detached        bool
		AppliedRevision int64
		Stale           bool
	}
	clienttest.Do(t, c, http.MethodGet, "/lab/v1/boards/"+id, nil, &b)
	want := seatOf(t, s, id)
	if !b.Detached || b.AppliedRevision != want || want == 0 || b.Stale {
		t.Errorf("got %+v, want the board detached, and the revision that the server knows, %d", b, want)
	}
	must.OK(t, s.Stop())
	if clienttest.Do(t, c, http.MethodGet, "/lab/v1/boards/"+id, nil, &b); !b.Stale {
		t.Errorf("got %+v, want a desired revision that is stale, because the server is gone", b)
	}
}

// seatOf is the revision that the server knows of a board.
func seatOf(t *testing.T, s *Testbed, id string) int64 {
	t.Helper()
	var seat struct{ AppliedRevision int64 }
	clienttest.Do(t, client.Client{Base: s.Ready.Control, Token: "token"}, http.MethodGet, "/lab/v1/seats/"+id, nil, &seat)
	return seat.AppliedRevision
}

// said are the lines of a log as they are written.
type said chan string

func (s said) Write(b []byte) (int, error) {
	s <- string(b)
	return len(b), nil
}

// TestRotatedElsewhere: a board in another process whose password was rotated at the server stays out, and its fleet's log
// says what to do. Following that brings it back.
func TestRotatedElsewhere(t *testing.T) {
	t.Parallel()
	w := world.Default(1, 2)
	s := must.Get(Start(t.Context(), Config{World: w, Seeded: true, DataDir: t.TempDir(), Control: "127.0.0.1:0", ControlToken: "token"}))(t)
	t.Cleanup(func() { _ = s.Stop() })
	b := &w.Places[1].Boards[0]
	log := make(said, 100)
	config := FleetConfig{World: w, Broker: strings.TrimPrefix(s.Ready.MQTT, "tcp://"), DataDir: t.TempDir(), Log: slog.New(slog.NewTextHandler(log, nil))}
	f := must.Get(StartFleet(t.Context(), config))(t)
	var out struct{ Password string }
	clienttest.Do(t, client.Client{Base: s.Ready.Control, Token: "token"}, http.MethodPost, "/lab/v1/boards/"+b.ID+"/rotate", nil, &out)
	select {
	case line := <-log:
		if !strings.Contains(line, "write the new one into the board's 'password' in the world file") || !strings.Contains(line, "board="+b.ID) {
			t.Errorf("the log says %q, want what to do with the board", line)
		}
	case <-time.After(time.Minute):
		t.Fatal("the log says nothing within a minute, want what to do")
	}
	if len(log) > 0 {
		t.Errorf("the log goes on: %q; want one line, because only one board is out", <-log)
	}
	must.OK(t, f.Stop())
	config.World = world.Default(1, 2)
	mended := &config.World.Places[1].Boards[0]
	mended.Password, mended.Given = out.Password, true    // as a world file does
	again := must.Get(StartFleet(t.Context(), config))(t) // once its boards are connected
	must.OK(t, again.Stop())
}
