package gateway

import "sync/atomic"

type counters struct {
	connected, online                                           atomic.Int64
	accepted, refused, takeovers, acceptErrors, panics, crowded atomic.Int64
	hellos, uplinks, reports, records, badRecords               atomic.Int64
	early, garbage, forbidden                                   atomic.Int64
	down, downDropped, commandsUnsent                           atomic.Int64
}

// Counts is what the gateway has seen since it started.
type Counts struct {
	Connected int64 // connections of known boards now
	Online    int64 // boards that said hello on theirs

	Accepted     int64 // connections accepted from the listeners
	Refused      int64 // ... and refused: not MQTT 3.1.1, not admitted, bad hello
	Takeovers    int64 // connections ended by a newer one of the same board
	Crowded      int64 // unfinished connections ended to make room
	AcceptErrors int64
	Panics       int64

	Hellos     int64
	Uplinks    int64 // messages from boards
	Reports    int64
	Records    int64 // on-site records that were new
	BadRecords int64 // unacceptable records: other doors, unknown results
	Early      int64 // uplinks before hello, dropped
	Garbage    int64 // undecodable uplinks, dropped
	Forbidden  int64 // topics refused

	Down           int64 // messages to boards
	DownDropped    int64 // not accepted: connection ended, or a board that reads too slowly
	CommandsUnsent int64 // of these, commands

	Dropped map[string]int64 // of what boards said, by DropReasons
}

// Snapshot reads the counters.
func (g *Gateway) Snapshot() Counts {
	c := &g.count
	return Counts{Connected: c.connected.Load(), Online: c.online.Load(), Accepted: c.accepted.Load(), Refused: c.refused.Load(),
		Takeovers: c.takeovers.Load(), AcceptErrors: c.acceptErrors.Load(), Panics: c.panics.Load(), Crowded: c.crowded.Load(), Hellos: c.hellos.Load(),
		Uplinks: c.uplinks.Load(), Reports: c.reports.Load(), Records: c.records.Load(), BadRecords: c.badRecords.Load(),
		Early: c.early.Load(), Garbage: c.garbage.Load(), Forbidden: c.forbidden.Load(),
		Down: c.down.Load(), DownDropped: c.downDropped.Load(), CommandsUnsent: c.commandsUnsent.Load(), Dropped: g.drops.all()}
}
