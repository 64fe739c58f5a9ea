package testbed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/boardsim"
	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/clock/clocktest"
	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/pipe"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/server"
)

const decades = 56 * 365 * 24 * time.Hour

// stepped is a complete server on a machine whose clock is set now and then. Its boards have separate clocks, which
// are right.
type stepped struct {
	t       *testing.T
	machine clocktest.Machine
	world   *world.World
	dir     string
	server  *server.Server
	line    atomic.Pointer[pipe.Listener]
	held    atomic.Pointer[chan struct{}] // if not nil, boards wait for it before they receive anything
	fleet   *boardsim.Fleet
	lab     client.Client
}

func (s *stepped) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// boot starts the server on its existing data.
func (s *stepped) boot() {
	s.t.Helper()
	var err error
	s.server, err = server.New(server.Config{DataDir: s.dir, World: s.world, Clock: &s.machine, LinkURL: "http://link"})
	s.must(err)
	l := pipe.NewListener("boards")
	s.line.Store(l)
	go func(of *server.Server) { _ = of.ServeMQTT(l) }(s.server)
}

// reboot stops the server, sets the clock and starts it again.
func (s *stepped) reboot(step time.Duration) {
	s.t.Helper()
	s.must(s.server.Stop())
	s.machine.Set(step)
	s.boot()
}

func (s *stepped) dial(ctx context.Context, _ string) (net.Conn, error) {
	c, err := s.line.Load().Dial(ctx)
	return deaf{c, s}, err
}

// deaf receives nothing while boards are held.
type deaf struct {
	net.Conn
	s *stepped
}

func (d deaf) Read(b []byte) (int, error) {
	n, err := d.Conn.Read(b)
	if wait := d.s.held.Load(); wait != nil {
		<-*wait
	}
	return n, err
}

func (s *stepped) start() {
	s.t.Helper()
	s.boot()
	var err error
	s.fleet, err = boardsim.New(boardsim.Config{World: s.world, Clock: clock.Real{}, Dial: s.dial, Synced: true})
	s.must(err)
	s.must(s.fleet.Start(s.t.Context()))
	s.lab = client.Client{Base: "http://boards", Token: "t", HTTP: client.Inside(control.Handler("t", s.fleet.Routes))}
}

func (s *stepped) end() {
	s.must(errors.Join(s.fleet.Stop(), s.server.Stop()))
	time.Sleep(time.Minute) // until lines whose end nobody reported have timed out
	synctest.Wait()
}

// public calls the API with a new token.
func (s *stepped) public() client.Client {
	s.t.Helper()
	c, err := client.Client{Base: "http://api", HTTP: client.Inside(s.server.Handler())}.SignIn(s.t.Context(), s.world.Places[0].MainKey().Secret)
	s.must(err)
	return c
}

func (s *stepped) door() string { return s.world.Places[0].Boards[0].Doors[0].ID }

// open sends a command under a key and returns its status and id, and whether it is a replay.
func (s *stepped) open(key string) (status int, commandID string, replayed bool) {
	s.t.Helper()
	got, err := s.public().Open(s.t.Context(), s.door(), key)
	s.must(err)
	var a struct {
		Data    struct{ CommandID string }
		Details struct{ CommandID string }
	}
	s.must(json.Unmarshal(got.Body, &a))
	return got.Status, a.Data.CommandID + a.Details.CommandID, got.Header.Get("Idempotent-Replayed") == "true"
}

// pulses is how often the relay moved for a command.
func (s *stepped) pulses(commandID string) (n int) {
	for _, m := range s.fleet.Did(s.door(), commandID) {
		if m.Action == "pulse" {
			n++
		}
	}
	return n
}

// awake waits until the board has reconnected.
func (s *stepped) awake() {
	for s.fleet.Online() < s.fleet.Len() {
		time.Sleep(time.Second)
	}
	time.Sleep(time.Second)
}

// steps are the ways in which a machine's clock can be set.
var steps = []struct {
	name string
	do   func(s *stepped)
}{
	{"an hour ahead", func(s *stepped) { s.machine.Set(time.Hour) }},
	{"and back", func(s *stepped) { s.machine.Set(-time.Hour) }},
	{"two years ahead", func(s *stepped) { s.machine.Set(2 * 365 * 24 * time.Hour) }},
	{"and back", func(s *stepped) { s.machine.Set(-2 * 365 * 24 * time.Hour) }},
	{"asleep for two months", func(s *stepped) { s.machine.Set(60 * 24 * time.Hour) }},
	{"boots in 1970", func(s *stepped) { s.reboot(-decades) }},
	{"learns the time", func(s *stepped) { s.machine.Set(decades) }},
	{"boots in 1970", func(s *stepped) { s.reboot(-decades) }},
	{"is told the time while down", func(s *stepped) { s.reboot(decades) }},
	{"boots a year ahead", func(s *stepped) { s.reboot(365 * 24 * time.Hour) }},
	{"and is set right", func(s *stepped) { s.machine.Set(-365 * 24 * time.Hour) }},
}

// TestStepsOfTheMachinesClock: however the server machine's clock is set, no key is forgotten, nothing opens late, a
// revocation reaches the board, no token outlives its 15 minutes, and nobody is locked out.
func TestStepsOfTheMachinesClock(t *testing.T) {
	t.Parallel()
	w := world.Default(7, 0)
	w.DeriveSecrets(nil)
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := &stepped{t: t, world: w, dir: dir}
		s.start()
		defer s.end()
		status, first, _ := s.open("first")
		if status != http.StatusOK || s.pulses(first) != 1 {
			t.Fatalf("status %d, %d pulses, want 200 and one", status, s.pulses(first))
		}
		for i, step := range steps {
			s.checkStep(step.name, string(rune('a'+i)), first, func() { step.do(s) })
		}
	})
}

// checkStep sets the clock while a command is in progress, then checks what must hold.
func (s *stepped) checkStep(name, id, first string, do func()) {
	t := s.t
	t.Helper()
	old := s.public()
	gate := make(chan struct{})
	s.held.Store(&gate)
	type answer struct {
		status int
		id     string
	}
	late := make(chan answer, 1)
	go func() {
		status, id, _ := s.open("late-" + id)
		late <- answer{status, id}
	}()
	time.Sleep(time.Second) // it is on its way to the board, which receives it 6 s later
	do()
	time.Sleep(6 * time.Second)
	s.held.Store(nil)
	close(gate)
	a := <-late
	s.awake()
	if a.status != http.StatusGatewayTimeout && a.status != http.StatusBadGateway || s.pulses(a.id) != 0 {
		t.Errorf("%s: a command that came late was answered %d and moved the relay %d times, want 502 or 504 and no move", name, a.status, s.pulses(a.id))
	}
	if status, again, replayed := s.open("first"); status != http.StatusOK || again != first || !replayed || s.pulses(first) != 1 {
		t.Errorf("%s: the key's repeat is %d %s (replayed %t), %d pulses, want the first answer and one pulse", name, status, again, replayed, s.pulses(first))
	}
	if status, fresh, _ := s.open("new-" + id); status != http.StatusOK || s.pulses(fresh) != 1 {
		t.Errorf("%s: a new command is answered %d, %d pulses, want 200 and one", name, status, s.pulses(fresh))
	}
	s.checkRevocation(name, id)
	time.Sleep(15 * time.Minute)
	old.HTTP = client.Inside(s.server.Handler())
	var refused *client.Error
	if err := old.Do(t.Context(), http.MethodGet, "/space/v1/partner/entry-logs", nil, nil); !errors.As(err, &refused) || refused.Status != http.StatusUnauthorized {
		t.Errorf("%s: a token from before, 15 minutes later: %v, want 401", name, err)
	}
	for range 30 {
		s.public() // every 60 s window has ended by now
	}
	time.Sleep(time.Minute)
}

// checkRevocation registers a membership and ends it; the board must learn of both within 300 s. The periods don't
// depend on the year that the server believes in.
func (s *stepped) checkRevocation(name, id string) {
	s.t.Helper()
	phone := fmt.Sprintf("0101234%04d", id[0])
	at := func(item map[string]any) string {
		item["phone"], item["startsAt"] = phone, "1901-01-01T00:00:00Z"
		s.must(s.public().Do(s.t.Context(), http.MethodPost, "/space/v1/memberships/import", map[string]any{"source": "steps", "items": []any{item}}, nil))
		time.Sleep(300 * time.Second)
		var got struct{ Result string }
		s.must(s.lab.Do(s.t.Context(), http.MethodPost, "/lab/v1/people/present", map[string]any{"doorId": s.door(), "phone": phone}, &got))
		return got.Result
	}
	if got := at(map[string]any{}); got != "opened" {
		s.t.Errorf("%s: the reader says %s 300 s after the registration, want opened", name, got)
	}
	if got := at(map[string]any{"endsAt": "1902-01-01T00:00:00Z"}); got != "denied" {
		s.t.Errorf("%s: the reader says %s 300 s after the end of the membership, want denied", name, got)
	}
}
