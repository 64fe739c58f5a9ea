package server

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"

	"github.com/doorlab/doorlab/server/disk"
	"github.com/doorlab/doorlab/server/store"
)

// CrashAt kills the server when the next command passes point (one of command.CrashPoints), as the death of its process
// would: from then on no command makes progress, and callers get ErrStopped. dying is called before they do; it must
// not block, and has to make sure that Kill is called. It returns an error for an unknown point.
func (s *Server) CrashAt(point string, dying func()) error {
	return s.crash.arm(point, func() {
		dying()
		s.device.Kill()
	})
}

// Kill ends the server as the death of its process would: whatever is only in memory is lost, commands neither settle
// nor answer, and nothing more is written. The next New on the same data finds what a real death would have left there.
func (s *Server) Kill() error {
	var errs []error
	s.dead.Store(true)
	s.disk.Kill()
	s.unwatch()
	s.device.Kill()
	errs = append(errs, s.store.Close()) // before anything that would write on its way out
	if s.sip != nil {
		errs = append(errs, s.sip.Stop())
	}
	s.device.Stop()
	s.sweeper.Stop()
	s.sync.Stop()
	s.gateway.Stop()
	return errors.Join(errs...)
}

// Disarm forgets the armed crash point if no command has reached it yet.
func (s *Server) Disarm() { s.crash.disarm() }

// mortal is a log handler that falls silent when the server is killed: a dead process can't log that its writes fail. That
// they fail because the laboratory has broken the disk is no error either.
type mortal struct {
	slog.Handler
	dead *atomic.Bool
	disk *disk.Disk
}

// Handle implements slog.Handler.
func (m mortal) Handle(ctx context.Context, r slog.Record) error {
	state, _, _ := m.disk.State()
	r.Attrs(func(a slog.Attr) bool {
		if err, ok := a.Value.Any().(error); ok && state != disk.OK && (errors.Is(err, disk.ErrFull) || errors.Is(err, store.ErrUnavailable)) {
			r.Level = slog.LevelInfo
		}
		return true
	})
	if !m.Enabled(ctx, r.Level) {
		return nil
	}
	return m.Handler.Handle(ctx, r)
}

func (m mortal) Enabled(ctx context.Context, l slog.Level) bool {
	return !m.dead.Load() && m.Handler.Enabled(ctx, l)
}

func (m mortal) WithAttrs(a []slog.Attr) slog.Handler {
	return mortal{m.Handler.WithAttrs(a), m.dead, m.disk}
}

func (m mortal) WithGroup(name string) slog.Handler {
	return mortal{m.Handler.WithGroup(name), m.dead, m.disk}
}
