package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/capture"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/server/auth"
	"github.com/doorlab/doorlab/server/board"
	"github.com/doorlab/doorlab/server/command"
	"github.com/doorlab/doorlab/server/entry"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/place"
	"github.com/doorlab/doorlab/server/record"
	"github.com/doorlab/doorlab/server/store"
)

const houseWorld = `
seed: 7
places:
  - id: plc_a
    name: Here <b>
    kind: test
    entryPhone: "05012345678"
    hours: {mon: [["09:00", "22:00"]], sun: []}
    closures: [{from: 2026-11-03, to: 2026-11-03, name: Refit}]
    boards:
      - id: brd_a
        doors: [{id: dor_1, name: Front, channel: 1}, {id: dor_2, name: Back, channel: 2, entry: false}]
    keys:
      - {id: key_a, name: both, scopes: ["space:partner", "device:door"], sim: true}
      - {id: key_p, name: partner, scopes: ["space:partner"]}
      - {id: key_d, name: doors, scopes: ["device:door"]}
    memberships: [{phone: "01099998888", name: Member, startsAt: 2026-10-01T00:00:00Z}]
  - id: plc_b
    name: 강남 무인 스튜디오
    kind: live
    boards:
      - id: brd_b
        doors: [{id: dor_b, name: 정문, channel: 1}, {id: dor_c, name: 후문, channel: 2}]
    keys: [{id: key_b, name: other, scopes: ["space:partner", "device:door"]}]
`

// epoch is a Sunday noon in Seoul.
var epoch = time.Date(2026, 11, 1, 3, 0, 0, 0, time.UTC)

// house is the edge over the real store and services, with fake boards.
type house struct {
	t      *testing.T
	clk    *clock.Virtual
	store  *store.Store
	device *command.Service
	boards *fakeBoards
	api    *api
	http   http.Handler
	keys   map[string]string // secret by key id
	tokens map[string]string // by key id
	log    *capture.Text
	wait   time.Duration // for a board's report
}

// fakeBoards answers commands as configured.
type fakeBoards struct {
	mu       sync.Mutex
	device   *command.Service
	clk      clock.Clock
	behave   string // "" = report ok; offline; silent; or a refusal's code
	held     chan struct{}
	sent     []wire.Command
	netloss  map[string]wire.Netloss
	applied  map[string]time.Time
	setError error
	records  record.Keeper
}

func (f *fakeBoards) Send(_ context.Context, boardID string, c wire.Command) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.behave == vocab.Offline {
		return board.ErrOffline
	}
	f.sent = append(f.sent, c)
	r := wire.Report{CommandID: c.ID, Epoch: c.Epoch, Result: vocab.OK, At: f.clk.Now().UnixMilli(),
		Standing: &wire.Standing{DoorID: c.DoorID, Channel: c.Channel, State: "locked", Leaf: "closed", Since: epoch.UnixMilli()}}
	switch f.behave {
	case "":
	case "silent":
		return nil
	default:
		r.Result, r.Code, r.Standing = vocab.Refused, f.behave, nil
	}
	held := f.held
	go func() {
		if held != nil {
			<-held
		}
		f.device.Report(boardID, r, func(bool) {})
	}()
	return nil
}

func (f *fakeBoards) set(behave string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.behave = behave
}

func (f *fakeBoards) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.sent)
}

// last is the command sent last.
func (f *fakeBoards) last() wire.Command {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sent[len(f.sent)-1]
}

func (f *fakeBoards) Status(boardID string) board.Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	if boardID == "brd_b" {
		return board.Status{BoardID: boardID, PlaceID: "plc_b", State: board.Unknown,
			Policy: board.DefaultPolicy([]board.Door{{DoorID: "dor_b", Channel: 1}})}
	}
	s := board.Status{BoardID: boardID, PlaceID: "plc_a", State: board.Online, Since: epoch, LastSeenAt: f.clk.Now(),
		Policy:          board.DefaultPolicy([]board.Door{{DoorID: "dor_1", Channel: 1}, {DoorID: "dor_2", Channel: 2}}),
		PolicyAppliedAt: f.applied[boardID],
		Standings:       map[int]board.Reported{1: {Standing: wire.Standing{Channel: 1, State: "locked", Leaf: "closed", Since: epoch.UnixMilli()}, ReportedAt: epoch.UnixMilli()}}}
	if n, ok := f.netloss[boardID]; ok {
		s.Policy = n
	}
	return s
}

func (f *fakeBoards) SetNetloss(_ context.Context, by record.By, boardID string, n wire.Netloss) (wire.Netloss, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.setError != nil {
		return wire.Netloss{}, f.setError
	}
	state := board.State{BoardID: boardID, PlaceID: by.PlaceID, FirstSeenAt: epoch, Doors: []board.Door{{DoorID: "dor_1", Channel: 1}, {DoorID: "dor_2", Channel: 2}}}
	if was, ok := f.netloss[boardID]; ok {
		state.Policy = &was
	}
	n = state.Merge(n)
	state.Policy = &n
	f.netloss[boardID], f.applied[boardID] = n, f.clk.Now()
	return n, f.records.Configured(state, []record.Change{record.OutagePolicy(by, boardID, n)})
}

func newHouse(t *testing.T, change ...func(*Config)) *house {
	t.Helper()
	return newPatientHouse(t, 2*time.Second, change...)
}

// newPatientHouse waits longer for a board, because on a loaded machine a report may take a while.
func newPatientHouse(t *testing.T, wait time.Duration, change ...func(*Config)) *house {
	t.Helper()
	w := must.Get(world.Parse("test", []byte(houseWorld), 7))(t)
	w.DeriveSecrets(nil)
	h := &house{t: t, wait: wait, clk: clock.NewVirtual(epoch, nil), keys: map[string]string{}, tokens: map[string]string{}, log: &capture.Text{}}
	h.clk.Freeze()
	h.store = must.Get(store.Open(t.TempDir(), store.Options{Clock: h.clk}))(t)
	t.Cleanup(func() { _ = h.store.Close() })
	must.Get(h.store.Seed(w, []byte("api keys")))(t)
	for _, p := range w.Places {
		for _, k := range p.Keys {
			h.keys[k.ID] = k.Secret
		}
	}
	cfg := h.config(h.store)
	for _, f := range change {
		f(&cfg)
	}
	handler := must.Get(New(cfg))(t)
	h.api, h.http = handler.(*api), handler
	for id := range h.keys {
		h.tokens[id] = h.exchange(id)
	}
	return h
}

func (h *house) config(st *store.Store) Config {
	keys := must.Get(auth.New(auth.Config{Clock: h.clk, Store: st, Pepper: []byte("api keys"), SigningKey: []byte("tokens")}))(h.t)
	h.boards = &fakeBoards{clk: h.clk, netloss: map[string]wire.Netloss{}, applied: map[string]time.Time{}, records: record.Keeper{Store: st}}
	h.device = command.New(command.Config{Ledger: st.Commands(), Sender: h.boards, Clock: h.clk, NotAfter: time.Minute, Wait: h.wait}) // however slow the disk is
	h.boards.device = h.device
	h.t.Cleanup(h.device.Stop)
	return Config{
		Keys: keys, Directory: st, Places: place.New(place.Config{Clock: h.clk, Store: st}),
		Grants: grant.New(grant.Config{Clock: h.clk, Store: st, Secret: []byte("entry links"), LinkURL: "https://entry.example"}),
		Entry:  entry.New(entry.Config{Clock: h.clk, Store: st, Device: h.device}), Commands: h.device, Boards: h.boards,
		Audit: st.AddAudit, Ready: st.Ping, Unavailable: func(err error) bool { return errors.Is(err, store.ErrUnavailable) },
		LinkURL: "https://entry.example", Log: slog.New(slog.NewTextHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
}

// request is one call of the edge.
type request struct {
	method, path string
	token        string // key id; "" = none
	auth         string // complete header, instead of token
	key          string // Idempotency-Key
	body         string
	header       map[string]string
	addr         string
}

type response struct {
	*httptest.ResponseRecorder
	json map[string]any
}

func (r response) code() string         { s, _ := r.json["error"].(string); return s }
func (r response) data() map[string]any { m, _ := r.json["data"].(map[string]any); return m }
func (r response) details() map[string]any {
	m, _ := r.json["details"].(map[string]any)
	return m
}

var addrs struct {
	sync.Mutex
	n int
}

// do calls the edge and checks the answer against the documents.
func (h *house) do(q request) response {
	h.t.Helper()
	r := httptest.NewRequest(q.method, q.path, strings.NewReader(q.body))
	if q.body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if q.token != "" {
		r.Header.Set("Authorization", "Bearer "+h.tokens[q.token])
	}
	if q.auth != "" {
		r.Header.Set("Authorization", q.auth)
	}
	if q.key != "" {
		r.Header.Set("Idempotency-Key", q.key)
	}
	for k, v := range q.header {
		r.Header.Set(k, v)
	}
	addrs.Lock()
	addrs.n++
	r.RemoteAddr = fmt.Sprintf("10.%d.%d.%d:1", addrs.n>>16&255, addrs.n>>8&255, addrs.n&255)
	addrs.Unlock()
	if q.addr != "" {
		r.RemoteAddr = q.addr
	}
	w := httptest.NewRecorder()
	h.http.ServeHTTP(w, r)
	res := response{ResponseRecorder: w}
	if strings.HasPrefix(w.Header().Get("Content-Type"), typeJSON) && q.method != http.MethodHead {
		if err := json.Unmarshal(w.Body.Bytes(), &res.json); err != nil {
			h.t.Errorf("%s %s: %v in %s", q.method, q.path, err, w.Body)
		}
	}
	h.conforms(q, res)
	return res
}

// want calls the edge and expects a status and, for a failure, a code.
func (h *house) want(status int, code string, q request) response {
	h.t.Helper()
	r := h.do(q)
	if r.Code != status || r.code() != code {
		h.t.Errorf("%s %s %.60s: %d %s, want %d %s", q.method, q.path, q.body, r.Code, r.Body, status, code)
	}
	return r
}

func (h *house) exchange(keyID string) string {
	h.t.Helper()
	r := h.want(200, "", request{method: "POST", path: "/core/v1/auth/apikey/token", body: `{"key":"` + h.keys[keyID] + `"}`})
	s, _ := r.data()["accessToken"].(string)
	return s
}
