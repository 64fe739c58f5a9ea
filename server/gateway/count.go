package gateway

import "sync/atomic"

// Counts is what the gateway has seen since it started.
type Counts struct {
	Connected atomic.Int64 // connections of known boards now
	Online    atomic.Int64 // boards that said hello on theirs

	Accepted     atomic.Int64 // connections accepted from the listeners
	Refused      atomic.Int64 // ... and refused: not MQTT 3.1.1, not admitted, bad hello
	Takeovers    atomic.Int64 // connections ended by a newer one of the same board
	Crowded      atomic.Int64 // unfinished connections ended to make room
	AcceptErrors atomic.Int64
	Panics       atomic.Int64

	Hellos  atomic.Int64
	Uplinks atomic.Int64 // messages from boards
	Reports atomic.Int64
	Records atomic.Int64 // on-site records that were new

	Down           atomic.Int64 // messages to boards
	DownDropped    atomic.Int64 // not accepted: connection ended, or a board that reads too slowly
	CommandsUnsent atomic.Int64 // of these, commands
}

// Counts are the gateway's own counters.
func (g *Gateway) Counts() *Counts { return &g.count }

// Dropped counts what boards said and the gateway dropped, by DropReasons.
func (g *Gateway) Dropped() map[string]int64 { return g.drops.all() }
