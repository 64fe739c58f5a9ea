// Package testbed is a whole world in one process: clock, server, broker, links,
// boards, control API. The commands up, serve and check are a testbed with flags.
package testbed

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/doorlab/doorlab/boardsim/mqtt"
	"github.com/doorlab/doorlab/internal/certs"
	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/server/record"
	"github.com/doorlab/doorlab/server/spans"
)

// Links between boards and broker.
const (
	Memory = "memory"
	TCP    = "tcp"
)

// MQTT clients of boards.
const (
	Paho  = mqtt.Paho
	Light = mqtt.Light
)

// Config of a testbed. Each field says what zero means.
type Config struct {
	World        *world.World
	Version      string                   // shown at /version and on the metrics page; "" = of the build
	Fleet        bool                     // simulate the live places' boards too; false = the test places' only
	Link         string                   // Memory (default) or TCP
	Client       string                   // the boards' MQTT client, Paho (default) or Light
	Virtual      bool                     // virtual time that begins at Start
	Start        time.Time                // zero = now; later times in the data directory win
	DataDir      string                   // must be given
	FileSeed     int64                    // the world file's own seed, when World was made with another; 0 = World's
	Seeded       bool                     // the secrets of live places derive from the seed: repeatable; see ErrRepeatable
	SecretFile   string                   // ... from the secret in this file, which other processes share; made when missing; "" = from the directory's own
	Init         bool                     // start over in a data directory whose files don't fit together
	HTTP         string                   // "" = 127.0.0.1:0
	MQTT         string                   // "" = 127.0.0.1:0
	TLS          certs.Files              // of the public API, and of a control API off loopback; zero = none
	MQTTTLS      certs.Files              // of the broker; zero = none
	Control      string                   // "" = no control API
	Metrics      string                   // address of /metrics, for a server without a control API; "" = none
	OTLP         string                   // collector of OpenTelemetry spans, http://host:4318; "" = none are made
	Debug        string                   // address of profiles, on loopback; "" = none
	ControlToken string                   // "" = derived from the data directory's secret
	LinkURL      string                   // public address: base of entry links, and in the OpenAPI documents; "" = the HTTP address, and relative documents
	SIP          string                   // address of phone entry over SIP; "" = none
	SIPPeers     []string                 // who may call over SIP, addresses or CIDR; nil = this machine only
	Retention    Retention                // how long records, audit and ended grants are kept; zero = the defaults
	OnDemand     bool                     // no history until the control API is asked for one, and then on disk; false = Testbed.History has it all, in memory
	Tell         func(history.Event)      // gets every event in place of History, which stays empty; nil = not called
	CrashPoints  bool                     // let the control API kill the process at a step
	Long         bool                     // the history may be too long for memory: its older events are on disk
	Recorded     bool                     // with OnDemand: the recording begins at once, so that GET /history has the whole run
	TrustedProxy []string                 // whose X-Forwarded-For counts
	Wait         time.Duration            // of the server for a board's report; 0 = 8 s
	NotAfter     time.Duration            // how long after a request was accepted a board may begin to act; 0 = 5 s
	Coalesce     time.Duration            // changes within it go to the boards together; 0 = 250 ms
	Retry        time.Duration            // after losing its line, a board redials at a random time within it; 0 = 300 ms
	StopWithin   time.Duration            // how long Stop waits for the server to end; 0 = until it has
	Interrupted  context.Context          // with StopWithin: that time begins when this is done, and until then Stop waits; nil = at once
	Late         func(time.Duration)      // told, in place of the log, that Stop waited that long and no longer; nil = the log is
	LookOnce     bool                     // only the first start of the server checks the database for damage
	Runs         string                   // where the console looks for run directories; "" = nowhere
	Progress     func(online, boards int) // called every second while boards connect; nil = not called
	Log          *slog.Logger

	tracer *spans.Tracer // a test's, in place of OTLP's
}

// Retention is how long things are kept.
type Retention = record.Retention

// Ready describes a started testbed: the ready line of up and serve.
type Ready struct {
	Ready        bool   `json:"ready"`
	HTTP         string `json:"http"`
	MQTT         string `json:"mqtt"`
	Control      string `json:"control,omitempty"`
	ControlToken string `json:"controlToken,omitempty"`
	Metrics      string `json:"metrics,omitempty"` // its page; only when asked for
	Debug        string `json:"debug,omitempty"`   // page of profiles; only when asked for
	SIP          string `json:"sip,omitempty"`     // host:port, UDP and TCP; only when asked for
	Shard        string `json:"shard,omitempty"`   // i/n: the places are this shard of the world; "" = all of it
	// RepeatableSecrets: live places' keys and board passwords can be computed from the seed.
	RepeatableSecrets bool           `json:"repeatableSecrets,omitempty"`
	Places            []client.Place `json:"places"`
}

// Errors of Start that are the caller's mistakes.
var (
	// ErrOtherWorld: the data directory was made from another world, shard of it, seed or secret file.
	ErrOtherWorld = errors.New("the data directory holds another world, seed or shard")
	// ErrRepeatable: a listener off loopback, together with secrets that anyone can compute.
	ErrRepeatable = errors.New("the keys and board passwords of live places derive from the seed")
)
