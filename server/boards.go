package server

import (
	"github.com/doorlab/doorlab/server/boardsync"
	"github.com/doorlab/doorlab/server/command"
	"github.com/doorlab/doorlab/server/entry"
	"github.com/doorlab/doorlab/server/gateway"
	"github.com/doorlab/doorlab/server/record"
)

// boards composes what faces the boards: gateway, commands, synchronization,
// and entry by people, which opens through commands.
func (s *Server) boards() (err error) {
	var watch func(string, bool, string, []byte)
	if s.cfg.Watch != nil {
		watch = s.cfg.Watch.Message
	}
	s.gateway, err = gateway.New(plant(gateway.Config{Watch: watch, Store: s.store, Records: record.Keeper{Store: s.store}, Clock: s.cfg.Clock, Flight: s.cfg.Flight, History: s.cfg.History,
		Counted: s.cfg.Counted, Greet: s.cfg.Greet, Log: s.cfg.Log, Pepper: s.pepper()}))
	if err != nil {
		return err
	}
	commands := command.Config{Ledger: s.store.Commands(), Sender: s.gateway, Clock: s.cfg.Clock, Ages: s.store.Ages(), Flight: s.cfg.Flight, Trace: s.trace, Wait: s.cfg.Wait, NotAfter: s.cfg.NotAfter}
	if s.cfg.Spans != nil {
		commands.Caller = s.cfg.Spans.Caller
	}
	s.device = command.New(plant(commands))
	if _, err := s.device.Recover(); err != nil { // before any board can connect
		return err
	}
	s.sync = boardsync.New(plant(boardsync.Config{Content: boardsync.Reader{Source: s.store}, Line: s.gateway, Clock: s.cfg.Clock, Flight: s.cfg.Flight, History: s.cfg.History,
		Observe: s.metrics.synced, Coalesce: s.cfg.Coalesce, Leave: s.store.Leave, Log: s.cfg.Log}))
	s.sweeper = record.NewSweeper(s.store, s.cfg.Clock, s.cfg.Flight, s.cfg.Retention)
	s.store.OnRevision(s.sync.Moved)
	s.metrics.watchCommands(s.device)
	s.metrics.watchBroker(s.gateway, s.cfg.World)
	s.metrics.watchSync(s.sync)
	s.metrics.watchStore(s.cfg.DataDir, s.store)
	s.gateway.Bind(plant[gateway.Reports](s.device), plant[gateway.Sync](s.sync))
	people := entry.Config{Clock: s.cfg.Clock, Store: s.store, Device: s.device, Openings: &s.openings, Wait: s.device.Wait()}
	if s.cfg.Watch != nil {
		people.Denied = s.cfg.Watch.Denied
	}
	s.entry = entry.New(plant(people))
	return nil
}

// Online is the number of connected boards that have said hello.
func (s *Server) Online() int { return int(s.gateway.Counts().Online.Load()) }
