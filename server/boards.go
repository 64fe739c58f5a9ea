package server

import (
	"github.com/doorlab/doorlab/server/boardsync"
	"github.com/doorlab/doorlab/server/device"
	"github.com/doorlab/doorlab/server/entry"
	"github.com/doorlab/doorlab/server/gateway"
)

// boards composes what faces the boards: gateway, commands, synchronization,
// and entry by people, which opens through commands.
func (s *Server) boards() (err error) {
	s.gateway, err = gateway.New(gateway.Config{Store: s.store, Clock: s.cfg.Clock, Flight: s.cfg.Flight, History: s.cfg.History,
		Counted: s.cfg.Counted, Log: s.cfg.Log})
	if err != nil {
		return err
	}
	dc := device.Config{Ledger: s.store.Commands(), Sender: s.gateway, Clock: s.cfg.Clock, Flight: s.cfg.Flight, History: s.cfg.History, Observe: s.metrics.command}
	if s.crash != nil {
		dc.Step = s.crash.pass
	}
	s.device = device.New(dc)
	if _, err := s.device.Recover(); err != nil { // before any board can connect
		return err
	}
	s.sync = boardsync.New(boardsync.Config{Content: s.store, Line: s.gateway, Clock: s.cfg.Clock, Flight: s.cfg.Flight, History: s.cfg.History,
		Observe: s.metrics.synced, Log: s.cfg.Log})
	s.store.OnRevision(s.sync.Moved)
	s.metrics.watch(s.gateway, s.sync)
	s.gateway.Bind(s.device, s.sync)
	s.entry = entry.New(entry.Config{Clock: s.cfg.Clock, Store: s.store, Device: s.device})
	return nil
}
