// Package testbed is a whole world in one process: clock, server, broker,
// links, boards, control API. The commands up, serve and check are a testbed
// with flags. Only internal/cli and tests import it.
package testbed

import (
	"errors"
	"log/slog"
	"time"

	"github.com/doorlab/doorlab/internal/world"
)

// Links between boards and broker.
const (
	Memory = "memory"
	TCP    = "tcp"
)

// Config of a testbed. Zero values as said.
type Config struct {
	World        *world.World
	Fleet        bool                     // simulate the live places' boards too; false = the test places' only
	Link         string                   // Memory (default) or TCP
	Virtual      bool                     // virtual time that begins at Start
	Start        time.Time                // zero = now; a data directory that knows later times wins
	DataDir      string                   // must be given
	FileSeed     int64                    // the world file's own seed, when World was made with another; 0 = World's
	HTTP         string                   // "" = 127.0.0.1:0
	MQTT         string                   // "" = 127.0.0.1:0
	Control      string                   // "" = no control API
	ControlToken string                   // "" = derived from the data directory's secret
	LinkURL      string                   // base of entry links; "" = the HTTP address
	SIP          string                   // address of phone entry over SIP; "" = none
	CrashPoints  bool                     // let the control API kill the process at a step
	TrustedProxy []string                 // whose X-Forwarded-For counts
	Progress     func(online, boards int) // told every second while boards connect; nil = nobody
	Log          *slog.Logger
}

// Ready is what a started testbed says of itself: the ready line of up and serve.
type Ready struct {
	Ready        bool         `json:"ready"`
	HTTP         string       `json:"http"`
	MQTT         string       `json:"mqtt"`
	Control      string       `json:"control,omitempty"`
	ControlToken string       `json:"controlToken,omitempty"`
	SIP          string       `json:"sip,omitempty"` // host:port, UDP and TCP; only when asked for
	Places       []ReadyPlace `json:"places"`
}

// ReadyPlace is one place of the ready line. APIKey is nil once revoked.
type ReadyPlace struct {
	PlaceID    string  `json:"placeId"`
	Name       string  `json:"name"`
	Kind       string  `json:"kind"`
	APIKey     *string `json:"apiKey"`
	EntryPhone string  `json:"entryPhone,omitempty"`
}

// ErrOtherWorld: the data directory was made from another world or seed.
var ErrOtherWorld = errors.New("the data directory holds another world or seed")
