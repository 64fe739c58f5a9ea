package boardsim

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/doorlab/doorlab/boardsim/mqtt"
	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/internal/world"
)

const (
	place = "plc_live"
	one   = "brd_one" // dor_one1, dor_one2
	two   = "brd_two"
	phone = "01012345678"
	token = "secret-token"
)

var noon = time.Date(2026, 11, 20, 3, 0, 0, 0, time.UTC) // 12:00 in Seoul, a Friday

// theWorld has a live place with two boards and a test place with one.
func theWorld() *world.World {
	doors := func(name string) []world.Door {
		return []world.Door{{ID: "dor_" + name + "1", Name: name, Channel: 1}, {ID: "dor_" + name + "2", Name: name, Channel: 2}}
	}
	w := &world.World{Seed: 7, Places: []world.Place{
		{ID: place, Name: "Live", Kind: world.Live, Report: &world.Report{P50: 100 * time.Millisecond, P99: 100 * time.Millisecond},
			Boards: []world.Board{{ID: one, Doors: doors("one")}, {ID: two, Doors: doors("two")}}},
		{ID: "plc_test", Name: "Test", Kind: world.Test, Boards: []world.Board{{ID: "brd_test", Doors: doors("test")}}},
	}}
	if err := w.Resolve(); err != nil {
		panic(err)
	}
	w.DeriveSecrets(nil)
	return w
}

// rig is a fleet connected to the fake server, in a bubble.
type rig struct {
	t      *testing.T
	fleet  *Fleet
	server *fake
	flight *clock.Flight
	clk    clock.Clock
	still  *stalling // clk, unless that is virtual
	routes http.Handler
	dir    string
	client string
	dead   atomic.Bool // the server refuses connections

	mu     sync.Mutex
	events []history.Event
}

// bubble runs f with a rig on real time (the bubble's) or on a frozen virtual clock,
// once with each MQTT client.
func bubble(t *testing.T, virtual bool, f func(r *rig)) {
	t.Helper()
	t.Parallel()
	for _, client := range []string{mqtt.Paho, mqtt.Light} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) { bubbled(&rig{t: t, dir: dir, client: client}, virtual, f) })
		})
	}
}

func bubbled(r *rig, virtual bool, f func(r *rig)) {
	r.flight, r.still = clock.NewFlight(), &stalling{Clock: clock.Real{}}
	r.clk = r.still
	if virtual {
		v := clock.NewVirtual(noon, r.flight)
		v.Freeze()
		r.clk = v
	}
	r.server = newFake(r.clk, r.flight)
	r.boot()
	f(r)
	r.sleep(20 * time.Second)
	r.quiet()
	r.halt()
	r.server.close()
	time.Sleep(time.Minute) // until lines whose end nobody reported have timed out
	r.quiet()
}

// boot starts the fleet.
func (r *rig) boot() {
	r.t.Helper()
	r.build()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	must.OK(r.t, r.fleet.Start(ctx))
	synctest.Wait()
}

// build makes the fleet, on the data of an earlier one if there is any.
func (r *rig) build() {
	r.t.Helper()
	r.fleet = must.Get(New(Config{World: theWorld(), Clock: r.clk, Flight: r.flight, History: r.note, DataDir: r.dir, Client: r.client,
		Dial: func(ctx context.Context, _ string) (net.Conn, error) {
			if r.dead.Load() {
				return nil, syscall.ECONNREFUSED
			}
			return r.server.lis.Dial(ctx)
		},
		Addr:    func() string { return "tcp://127.0.0.1:1883" },
		Desired: func(string) int64 { return 9 }}))(r.t)
	r.routes = control.Handler("t", r.fleet.Routes)
}

func (r *rig) halt() {
	r.t.Helper()
	must.OK(r.t, r.fleet.Stop())
}

func (r *rig) note(e history.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

// seen are the events of one kind.
func (r *rig) seen(kind string) (out []history.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if e.Kind == kind {
			out = append(out, e)
		}
	}
	return out
}

// quiet checks that nothing is in flight.
func (r *rig) quiet() {
	r.t.Helper()
	synctest.Wait()
	if work, messages := r.flight.Pending(); work != 0 || messages != 0 {
		r.t.Errorf("still in flight: got %d work, %d messages, want 0 and 0", work, messages)
	}
}

func (r *rig) want(what string, got, want any) {
	r.t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		r.t.Errorf("%s: -want +got:\n%s", what, d)
	}
}

// sleep lets the bubble's time pass.
func (r *rig) sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// call makes a request to the control API and returns the answer's data or error.
func (r *rig) call(method, path, body string) (status int, data any) {
	r.t.Helper()
	q := httptest.NewRequest(method, "/lab/v1"+path, strings.NewReader(body))
	q.Header.Set("Authorization", "Bearer t")
	w := httptest.NewRecorder()
	r.routes.ServeHTTP(w, q)
	var out map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
		r.t.Fatalf("%s %s: %v in %s", method, path, err, w.Body)
	}
	if w.Code != http.StatusOK {
		return w.Code, out
	}
	return w.Code, out["data"]
}

// do is a call that must succeed.
func (r *rig) do(method, path, body string) any {
	r.t.Helper()
	status, data := r.call(method, path, body)
	if status != http.StatusOK {
		r.t.Fatalf("got %s %s %s: %d %v, want status = http.StatusOK", method, path, body, status, data)
	}
	return data
}

// arm arms a fault on a board; the returned func removes it.
func (r *rig) arm(fault, board, more string) (remove func()) {
	r.t.Helper()
	id := r.do("POST", "/faults", `{"fault":"`+fault+`","boards":["`+board+`"]`+more+`}`).(map[string]any)["faultId"].(string)
	return func() { r.do("DELETE", "/faults/"+id, "") }
}

func (r *rig) board(id string) map[string]any {
	r.t.Helper()
	return r.do("GET", "/boards/"+id, "").(map[string]any)
}

// acts is the first board's journal in short: "door action cause", with the command's id as cause.
func (r *rig) acts() (out []string) {
	r.t.Helper()
	for _, l := range r.do("GET", "/boards/"+one+"/journal", "").([]any) {
		l := l.(map[string]any)
		cause := l["cause"].(string)
		if c, ok := l["commandId"].(string); ok {
			cause = c
		}
		out = append(out, strings.TrimPrefix(l["doorId"].(string), "dor_")+" "+l["action"].(string)+" "+cause)
	}
	return out
}

// present is the decision of the reader at a door.
func (r *rig) present(door string) string {
	r.t.Helper()
	d := r.do("POST", "/people/present", `{"doorId":"`+door+`","phone":"`+phone+`"}`).(map[string]any)
	return d["result"].(string) + " " + d["reason"].(string)
}

const phoneKey access.PhoneKey = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

// content is a snapshot that lets phone in everywhere.
func content(boardID string) *wire.Sync {
	windows, doors := []access.Window{}, []wire.DoorConfig{}
	return &wire.Sync{To: 3, Snapshot: true, Timezone: "Asia/Seoul", PhoneKey: phoneKey, Windows: &windows, Doors: &doors,
		Hours: &access.Hours{Timezone: "Asia/Seoul", Week: access.Week{}},
		Upsert: []access.Grant{{ID: "mem_1", Kind: access.KindMembership, PhoneHash: phoneKey.Hash(phone), TokenHash: access.HashToken(place, token),
			Doors: []string{"dor_one1", "dor_one2", "dor_two1", "dor_two2"}, StartsAt: 1}}}
}
