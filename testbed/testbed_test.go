package testbed

import (
	"context"
	"encoding/json"
	"errors"
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

func begin(t *testing.T, c Config) *Testbed {
	t.Helper()
	if c.World == nil {
		c.World = world.Default(3, 10)
	}
	if c.DataDir == "" {
		c.DataDir = t.TempDir()
	}
	c.Control, c.Fleet = "127.0.0.1:0", true
	tb := must.Get(Start(t.Context(), c))(t)
	t.Cleanup(func() { _ = tb.Stop() })
	return tb
}

// patient gives boards time to act, and the server time to wait for them: with the five seconds that people have, a board
// refuses commands as expired on a machine that is busy enough.
func patient(c Config) Config {
	c.NotAfter, c.Wait = time.Minute, 2*time.Minute
	return c
}

func (t *Testbed) lab() client.Client {
	return client.Client{Base: t.Ready.Control, Token: t.Ready.ControlToken}
}

// open sends one command to a place's first door and returns the status.
func open(t *testing.T, tb *Testbed, place int, key string) int {
	t.Helper()
	return openWith(t, partner(t, tb, place), tb.cfg.World.Places[place].Boards[0].Doors[0].ID, key)
}

func openWith(t *testing.T, c client.Client, door, key string) int {
	t.Helper()
	a, err := c.Open(t.Context(), door, key)
	if err != nil {
		t.Error(err)
		return 0
	}
	return a.Status
}

func TestCommandOverBothLinks(t *testing.T) {
	t.Parallel()
	for _, link := range []string{Memory, TCP} {
		t.Run(link, func(t *testing.T) {
			t.Parallel()
			tb := begin(t, patient(Config{Link: link, Virtual: true}))
			if got := tb.Boards(); got != 11 {
				t.Errorf("%d boards, want 10 live ones and the test place's", got)
			}
			for place := range 2 {
				if got := open(t, tb, place, "k"); got != http.StatusOK {
					t.Errorf("place %d: status %d, want %d", place, got, http.StatusOK)
				}
			}
		})
	}
}

// TestRestartKeepsKeysAndTime: the same data gives the same keys (null once revoked), control token and entry links,
// and time never goes back.
func TestRestartKeepsKeysAndTime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := begin(t, Config{DataDir: dir, Virtual: true})
	clienttest.Do(t, first.lab(), http.MethodPost, "/lab/v1/clock/advance", map[string]string{"by": "37h"}, nil)
	revoked := first.cfg.World.Places[0].MainKey()
	clienttest.Do(t, first.lab(), http.MethodDelete, "/lab/v1/keys/"+revoked.ID, nil, nil)
	link := must.Get(first.ExampleLink(t.Context(), *first.Ready.Places[1].APIKey))(t)
	then := first.clk.Now()
	must.OK(t, first.Stop())

	again := begin(t, Config{DataDir: dir, Virtual: true})
	if again.clk.Now().Before(then) {
		t.Errorf("time went back from %s to %s, want it to continue", then, again.clk.Now())
	}
	if again.Ready.ControlToken != first.Ready.ControlToken {
		t.Error("another control token")
	}
	if again.Ready.Places[0].APIKey != nil {
		t.Error("a revoked key is printed")
	}
	if got, want := *again.Ready.Places[1].APIKey, *first.Ready.Places[1].APIKey; got != want {
		t.Errorf("key %s, was %s", got, want)
	}
	_, was, _ := strings.Cut(link, "?t=")
	if same, err := again.ExampleLink(t.Context(), *again.Ready.Places[1].APIKey); err != nil || !strings.HasSuffix(same, "?t="+was) {
		t.Errorf("the same permit has the link %s, %v, want the token of %s", same, err, link)
	}
	line, err := json.Marshal(again.Ready)
	if err != nil || !strings.Contains(string(line), `"apiKey":null`) || strings.Contains(string(line), "sip") {
		t.Errorf("ready line %s, %v; want a null key, and nothing about sip", line, err)
	}
	if got := open(t, again, 1, "k"); got != http.StatusOK {
		t.Errorf("command after the restart: status %d, want %d", got, http.StatusOK)
	}
}

func TestDataDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tb := begin(t, Config{DataDir: dir})
	refused := func(w *world.World, want error) {
		t.Helper()
		if _, err := Start(t.Context(), Config{World: w, DataDir: dir}); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	refused(world.Default(3, 10), ErrInUse)
	refused(world.Default(4, 10), ErrOtherWorld)
	must.OK(t, tb.Stop())
	if err := begin(t, Config{World: world.Default(3, 20), DataDir: dir}).Stop(); err != nil { // adds a place
		t.Error(err)
	}
	if seed, file := RememberedSeed(dir); seed != 3 || file != 3 {
		t.Errorf("remembered %d, %d, want 3 and 3", seed, file)
	}
}

// TestStopWithCommandsInFlight: stopping takes at most 5 s, and commands in progress are answered under their key
// after the restart.
func TestStopWithCommandsInFlight(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tb := begin(t, Config{DataDir: dir, Wait: time.Hour}) // nobody must have to wait this long
	board := tb.cfg.World.Places[1].Boards[0].ID
	clienttest.Do(t, tb.lab(), http.MethodPost, "/lab/v1/faults", map[string]any{"fault": "silent", "boards": []string{board}}, nil)
	c := partner(t, tb, 1)
	door := tb.cfg.World.Places[1].Boards[0].Doors[0].ID
	ended := make(chan error, 1)
	go func() {
		_, err := c.Open(context.Background(), door, "flying")
		ended <- err
	}()
	for sent := false; !sent; { // until the board has it
		var faults []struct{ Hits int }
		clienttest.Do(t, tb.lab(), http.MethodGet, "/lab/v1/faults", nil, &faults)
		sent = faults[0].Hits > 0
	}
	if err := tb.Stop(); err != nil {
		t.Error(err)
	}
	<-ended
	again := begin(t, Config{DataDir: dir})
	if got := open(t, again, 1, "flying"); got != http.StatusGatewayTimeout {
		t.Errorf("the command under way: status %d, want 504", got)
	}
}

// TestSIPAddress: if SIP is enabled, the ready line has its address.
func TestSIPAddress(t *testing.T) {
	t.Parallel()
	tb := begin(t, Config{SIP: "127.0.0.1:0"})
	line, err := json.Marshal(tb.Ready)
	if err != nil || !strings.Contains(string(line), `"sip":"127.0.0.1:`) {
		t.Errorf("ready line %s, %v, want %q in it and no error", line, err, `"sip":"127.0.0.1:`)
	}
	conn := must.Get(net.Dial("tcp", tb.Ready.SIP))(t)
	_ = conn.Close()
}

func TestPeerRevisions(t *testing.T) {
	t.Parallel()
	w := world.Default(5, 10)
	dir := t.TempDir()
	tb := must.Get(Start(t.Context(), Config{World: w, Seeded: true, DataDir: dir, Control: "127.0.0.1:0"}))(t)
	t.Cleanup(func() { _ = tb.Stop() })
	f := must.Get(StartFleet(t.Context(), FleetConfig{World: w, Broker: strings.TrimPrefix(tb.Ready.MQTT, "tcp://"), Control: "127.0.0.1:0", DataDir: t.TempDir()}))(t)
	t.Cleanup(func() { _ = f.Stop() })
	if f.Ready.Boards != 10 {
		t.Errorf("%d boards, want the live ones", f.Ready.Boards)
	}
	boards := client.Client{Base: f.Ready.Control, Token: f.Ready.ControlToken}
	place := w.Places[1]
	clienttest.Do(t, boards, http.MethodPost, "/lab/v1/faults", map[string]any{"fault": "offline", "placeId": place.ID}, nil)
	member := map[string]any{"placeId": place.ID, "phone": "01022223333", "startsAt": "2026-01-01T00:00:00Z"}
	clienttest.Do(t, tb.lab(), http.MethodPost, "/lab/v1/memberships", member, nil)
	gap := func() int64 {
		t.Helper()
		var b struct{ DesiredRevision, AppliedRevision int64 }
		clienttest.Do(t, boards, http.MethodGet, "/lab/v1/boards/"+place.Boards[0].ID, nil, &b)
		return b.DesiredRevision - b.AppliedRevision
	}
	if got := gap(); got != 0 {
		t.Errorf("without a known server: %d behind, want 0", got)
	}
	intro := map[string]string{"control": tb.Ready.Control, "token": tb.Ready.ControlToken}
	clienttest.Do(t, boards, http.MethodPost, "/lab/v1/server", intro, nil)
	if got := gap(); got != 1 {
		t.Errorf("with the server known: %d behind, want 1", got)
	}
}
