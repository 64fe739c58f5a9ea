// Package gateway is the boards' side of the server: an embedded MQTT 3.1.1
// broker, the boards' connections and presence, commands out, reports in, sync
// and configuration both ways. Only it knows the MQTT library; any 3.1.1 broker
// could replace it. It declares the Store it needs and hands uplinks to the
// Reports (server/device) and Sync (server/boardsync) that composition binds.
// Only the composition (server) imports it.
package gateway

import (
	"context"
	"net"

	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/device"
)

// BoardStatus is what the server knows of a board now.
type BoardStatus = device.BoardStatus

// Refused is the board's refusal of a configuration.
type Refused = device.RefusedError

// Errors of Send and SetNetloss.
var (
	ErrOffline  = device.ErrOffline
	ErrLost     = device.ErrLost
	ErrNoAnswer = device.ErrNoAnswer
	ErrNoBoard  = device.ErrNoBoard
)

// Gateway is the broker with everything around it.
type Gateway struct{}

// Status is what is known of a board; the zero BoardID for an unknown one.
func (g *Gateway) Status(boardID string) BoardStatus { return BoardStatus{} }

// SetNetloss sets a board's outage policy and returns what the board confirmed.
// Errors: ErrNoBoard, ErrOffline, ErrLost, ErrNoAnswer, *Refused, the store's.
func (g *Gateway) SetNetloss(ctx context.Context, boardID string, n wire.Netloss) (wire.Netloss, error) {
	return wire.Netloss{}, ErrOffline
}

// Send sends a command to the board's live connection. ErrOffline: nothing was sent.
func (g *Gateway) Send(ctx context.Context, boardID string, c wire.Command) error { return ErrOffline }

// Serve accepts connections from l until Stop.
func (g *Gateway) Serve(l net.Listener) error { return nil }

// Stop ends every connection and writes what is known.
func (g *Gateway) Stop() {}
