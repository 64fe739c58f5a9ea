package server

import (
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/server/command"
	"github.com/doorlab/doorlab/server/entry"
)

// Watch sees what passes through a server. Its methods are called inline: they must be quick and copy what they keep.
type Watch interface {
	// Command sees a command at each of its points.
	Command(p command.Point, t *command.Trail)
	// Message sees a board's message.
	Message(boardID string, down bool, channel string, payload []byte)
	// Denied sees a call or a press of a link that was refused: no command came of it.
	Denied(d entry.Denial)
}

// trace follows commands: the history gets their intents, the metrics their phases, OpenTelemetry the way from request
// to relay; and an armed crash point ends the server here.
func (s *Server) trace(p command.Point, t *command.Trail) {
	switch p {
	case command.AfterClaim:
		if s.cfg.History == nil {
			break
		}
		in := &t.Intent
		s.cfg.History(history.Event{Kind: history.Intent, At: s.cfg.Clock.Now().UnixMilli(), PlaceID: in.PlaceID, DoorID: in.DoorID,
			CommandID: in.CommandID, Key: history.KeyHash(in.PlaceID, in.Key), Op: in.Command, Method: string(in.Method), GrantID: in.GrantID,
			TookNs: int64(t.Committed - t.Decided), CheckNs: int64(t.Decided - t.Accepted)})
	case command.AfterCommit:
		s.metrics.command(t)
	}
	if s.cfg.Watch != nil {
		s.cfg.Watch.Command(p, t)
	}
	if s.cfg.Spans != nil {
		s.cfg.Spans.Command(p, t)
	}
	s.crash.pass(p)
}
