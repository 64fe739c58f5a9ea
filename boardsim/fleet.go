// Package boardsim is the fleet: simulated boards as MQTT clients around
// boardsim/firmware, their faults, flash and ground-truth journal, and the
// control routes that steer them. Commands flow in over a link, reports out;
// people and faults come in over the routes. internal/testbed, internal/cli and
// tests may import it; it never imports server.
package boardsim

import (
	"context"
	"log/slog"
	"net"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/go-chi/chi/v5"
)

// Config of a Fleet. World, Dial, Clock and DataDir must be given.
type Config struct {
	World *world.World // resolved
	// Kinds of places to simulate; empty = world.Test and world.Live.
	Kinds []string
	// Slice i of n (1-based) takes every n-th live board; 0 of 0 = all. Test places are in slice 1.
	SliceI, SliceN int
	// Dial reaches the broker for a board: a memory link or TCP.
	Dial    func(ctx context.Context, boardID string) (net.Conn, error)
	Clock   clock.Clock
	Flight  *clock.Flight       // nil = none
	History func(history.Event) // nil = none
	DataDir string              // flash and journal
	Seed    int64               // of latencies, jitter and faults; 0 = World.Seed
	// Desired is the revision the server wants on a board, for GET /boards; nil = the applied one is shown.
	Desired func(boardID string) int64
	Addr    func() string // broker address that detach answers, e.g. tcp://127.0.0.1:1883
	Log     *slog.Logger  // nil = discard
}

// Fleet is a running set of boards.
type Fleet struct{}

// New builds the boards and loads their flash. It does not connect.
func New(c Config) (*Fleet, error) { return &Fleet{}, nil }

// Start connects all boards and returns when the server has answered each hello, or the context ends.
func (f *Fleet) Start(ctx context.Context) error { return nil }

// Stop disconnects all boards and closes flash and journal.
func (f *Fleet) Stop() error { return nil }

// Len is how many boards there are, Online how many the server has spoken to on their current connection.
func (f *Fleet) Len() int { return 0 }

// Online counts connected boards.
func (f *Fleet) Online() int { return 0 }

// Hits counts by fault name what the faults did over the fleet's life.
func (f *Fleet) Hits() map[string]int64 { return nil }

// Routes mounts the boards' part of the control API; r is at /lab/v1.
func (f *Fleet) Routes(r chi.Router) {}
