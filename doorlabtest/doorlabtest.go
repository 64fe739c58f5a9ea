// Package doorlabtest gives a Go test its own lab: the real
// access-control server, its broker, simulated boards and a clock that the test
// moves. Everything listens on free loopback ports, lives in a temporary directory
// and ends with the test.
//
//	lab := doorlabtest.Start(t)
//	shop := lab.Live()[0]
//	// point the code under test at lab.URL with the key shop.APIKey ...
//	lab.Fault("offline", shop.Boards[0].ID)
//	lab.Advance(36 * time.Hour)
package doorlabtest

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/testbed"
)

// Lab is a running lab.
type Lab struct {
	URL          string // of the public API
	MQTT         string // of the broker, for your own board
	Control      string // of the control API
	ControlToken string
	Places       []Place

	t   testing.TB
	lab client.Client
}

// Place is a place and its key, which has both scopes.
type Place struct {
	ID, Name   string
	Test       bool // a test place: its doors can't be made to fail
	APIKey     string
	EntryPhone string
	Boards     []Board
}

// Board is a simulated board with its doors.
type Board struct {
	ID    string
	Doors []string // ids
}

// Entry is one line of a relay's journal: the ground truth. Action is pulse, hold,
// lock, off, refuse or deny; Cause is command, onsite, free, policy, hold_end or outage.
type Entry struct {
	Seq       int64
	At        time.Time
	DoorID    string
	Action    string
	Cause     string
	CommandID string
	GrantID   string
}

// Option changes what Start builds.
type Option func(*config)

type config struct {
	boards int
	seed   int64
	real   bool
}

// Boards sets how many live boards there are, ten to a place; default 10.
func Boards(n int) Option { return func(c *config) { c.boards = n } }

// Seed sets the seed of ids, keys and randomness; default 1.
func Seed(n int64) Option { return func(c *config) { c.seed = n } }

// RealClock makes domain time the machine's; without it time is virtual, and
// Advance moves it.
func RealClock() Option { return func(c *config) { c.real = true } }

// Start starts a lab and ends it with the test. It fails the test if the lab can't
// be started.
func Start(t testing.TB, opts ...Option) *Lab {
	t.Helper()
	c := config{boards: 10, seed: 1}
	for _, o := range opts {
		o(&c)
	}
	w := world.Default(c.seed, c.boards)
	tb, err := testbed.Start(context.Background(), testbed.Config{World: w, Seeded: true, DataDir: t.TempDir(), Fleet: true, Virtual: !c.real, Control: "127.0.0.1:0"})
	if err != nil {
		t.Fatalf("doorlabtest: %v", err)
	}
	t.Cleanup(func() {
		if err := tb.Stop(); err != nil {
			t.Errorf("doorlabtest: stop: %v", err)
		}
	})
	l := &Lab{URL: tb.Ready.HTTP, MQTT: tb.Ready.MQTT, Control: tb.Ready.Control, ControlToken: tb.Ready.ControlToken, t: t,
		lab: client.Client{Base: tb.Ready.Control, Token: tb.Ready.ControlToken}}
	for i, p := range tb.Ready.Places {
		place := Place{ID: p.PlaceID, Name: p.Name, Test: p.Kind == world.Test, EntryPhone: p.EntryPhone}
		if p.APIKey != nil {
			place.APIKey = *p.APIKey
		}
		for _, b := range w.Places[i].Boards {
			board := Board{ID: b.ID}
			for _, d := range b.Doors {
				board.Doors = append(board.Doors, d.ID)
			}
			place.Boards = append(place.Boards, board)
		}
		l.Places = append(l.Places, place)
	}
	return l
}

// Live lists the live places: their boards can fail.
func (l *Lab) Live() (out []Place) {
	return each.If(l.Places, func(p Place) bool { return !p.Test })
}

// Token exchanges a place's key for an access token, valid for 900 s of domain time.
func (l *Lab) Token(p Place) string {
	l.t.Helper()
	token, _, err := client.Client{Base: l.URL}.Exchange(l.t.Context(), p.APIKey)
	if err != nil {
		l.t.Fatalf("doorlabtest: token of %s: %v", p.ID, err)
	}
	return token
}

// Advance moves the clock; when it returns, everything that fell due has happened.
func (l *Lab) Advance(by time.Duration) {
	l.t.Helper()
	l.call(http.MethodPost, "/clock/advance", map[string]any{"by": by.String()}, nil)
}

// Freeze stops the clock; Run lets it continue.
func (l *Lab) Freeze() { l.t.Helper(); l.call(http.MethodPost, "/clock/freeze", nil, nil) }

// Run lets a frozen clock continue.
func (l *Lab) Run() { l.t.Helper(); l.call(http.MethodPost, "/clock/run", nil, nil) }

// Now is domain time.
func (l *Lab) Now() time.Time {
	l.t.Helper()
	var out struct{ Now time.Time }
	l.call(http.MethodGet, "/clock", nil, &out)
	return out.Now
}

// Fault arms a fault (docs/faults.md) on boards and returns what removes it.
func (l *Lab) Fault(name string, boards ...string) (remove func()) {
	l.t.Helper()
	return l.FaultWith(map[string]any{"fault": name, "boards": boards})
}

// FaultWith arms a fault with a body of POST /lab/v1/faults and returns what removes it, also in t.Cleanup.
func (l *Lab) FaultWith(body map[string]any) (remove func()) {
	l.t.Helper()
	var out struct{ FaultID string }
	l.call(http.MethodPost, "/faults", body, &out)
	return func() {
		l.t.Helper()
		err := l.lab.Do(context.WithoutCancel(l.t.Context()), http.MethodDelete, control.Prefix+"/faults/"+url.PathEscape(out.FaultID), nil, nil)
		if fail, answered := errors.AsType[*client.Error](err); err != nil && !(answered && fail.Status == http.StatusNotFound) { // it may have ended by itself
			l.t.Fatalf("doorlabtest: end the fault %s: %v", out.FaultID, err)
		}
	}
}

// Journal is what a board's relays did, oldest first.
func (l *Lab) Journal(board string) (out []Entry) {
	l.t.Helper()
	l.call(http.MethodGet, "/boards/"+url.PathEscape(board)+"/journal", nil, &out)
	return out
}

// Present presents a phone at a door's reader: the result and the reason.
func (l *Lab) Present(door, phone string) (result, reason string) {
	l.t.Helper()
	var out struct{ Result, Reason string }
	l.call(http.MethodPost, "/people/present", map[string]any{"doorId": door, "phone": phone}, &out)
	return out.Result, out.Reason
}

// Call calls a place's entry number: the result and the reason, or "" if nobody answers.
func (l *Lab) Call(to, from string) (result, reason string) {
	l.t.Helper()
	var out struct{ Result, Reason string }
	l.call(http.MethodPost, "/people/call", map[string]any{"to": to, "from": from}, &out)
	return out.Result, out.Reason
}

// call also works in cleanups, when the test's context has ended.
func (l *Lab) call(method, path string, body, out any) {
	l.t.Helper()
	if err := l.lab.Do(context.WithoutCancel(l.t.Context()), method, control.Prefix+path, body, out); err != nil {
		l.t.Fatalf("doorlabtest: %s %s: %v", method, path, err)
	}
}
