package boardsim

import (
	"context"
	"errors"
	"time"

	"github.com/doorlab/doorlab/boardsim/firmware"
	"github.com/doorlab/doorlab/boardsim/link"
	"github.com/doorlab/doorlab/boardsim/mqtt"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/pipe"
	"github.com/doorlab/doorlab/internal/wire"
)

// redial schedules the next connection attempt: the first soon, later ones with full jitter. A jump of the clock waits
// for the first two. Called with mu held.
func (b *board) redial() {
	if b.stopped || b.lineBad != "" {
		b.landed()
		return
	}
	wait := time.Duration(b.rng.Int64N(int64(min(maxRetry, b.f.cfg.Retry<<min(b.tries, 10)))))
	if b.f.walking() {
		wait = 0
	}
	if b.tries < 2 && b.away == nil {
		b.away = b.f.cfg.Flight.Begin()
	}
	if b.tries >= 2 {
		b.landed()
	}
	b.tries++
	if b.retry != nil {
		b.retry.Stop()
	}
	b.retry = clock.WallAfter(wait, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.dialNow()
	})
}

// landed ends the flight of a reconnect. Called with mu held.
func (b *board) landed() {
	if b.away != nil {
		b.away()
		b.away = nil
	}
}

// dialNow starts an attempt unless one is in progress. Called with mu held.
func (b *board) dialNow() {
	if b.stopped || b.lineBad != "" || b.f.ctx.Err() != nil {
		b.landed()
		return
	}
	if b.ses != nil {
		return
	}
	b.seq++
	s := &session{no: b.seq, done: make(chan struct{})}
	b.ses = s
	b.f.wg.Go(func() {
		b.f.slots <- struct{}{}
		err := b.connect(s)
		<-b.f.slots
		b.loggedIn(err)
		if err != nil {
			b.f.failed.Store(&err)
			b.ended(s, err)
		}
	})
}

const (
	// barredAfter is how often in a row a login is refused before that is said: a password that was rotated in this process
	// may come a moment after the old connection was cut.
	barredAfter = 3
	// mostBarred is of how many boards that are out at once it is said: the others have the same trouble.
	mostBarred = 10
)

// loggedIn counts refused logins of a board, and says what to do about them.
func (b *board) loggedIn(err error) {
	switch {
	case err == nil && b.barred.Swap(0) >= barredAfter:
		b.f.barred.Add(-1)
	case errors.Is(err, mqtt.ErrLogin) && b.barred.Add(1) == barredAfter && b.f.barred.Add(1) <= mostBarred:
		b.f.cfg.Log.Warn("the server refuses the board's password. If it was rotated ('doorlab board rotate'), write the new one into the board's "+
			"'password' in the world file of 'doorlab boards', and start that again. If the server refuses every board, start both with the same "+
			"--secret-file or --seed", "board", b.id)
	}
}

// connect dials, subscribes, says hello and waits for the answer.
func (b *board) connect(s *session) error {
	ctx, cancel := context.WithTimeout(b.f.ctx, handshake)
	defer cancel()
	conn, err := b.f.cfg.Dial(ctx, b.id)
	if err != nil {
		return err
	}
	b.mu.Lock()
	if b.ses != s {
		b.mu.Unlock()
		pipe.Reset(conn)
		return nil
	}
	s.heard.Store(b.f.nowMs())
	s.line = link.Wrap(conn, link.Config{BoardID: b.id, Flight: b.f.cfg.Flight, Apart: b.f.cfg.Apart, Seed: b.f.cfg.Seed ^ s.no<<20 ^ int64(b.rng.Uint32()),
		State: b.f.faults.Line(b.id).State, OnFault: func(d link.Dir, blind bool) { b.f.faults.LineHit(b.id, d, blind) }})
	s.client = mqtt.New(b.f.cfg.Client, b.options(s))
	b.mu.Unlock()
	var topics []string
	for _, ch := range wire.Down {
		topics = append(topics, wire.Topic(b.id, ch))
	}
	if err := s.client.Connect(topics); err != nil {
		_ = s.line.Close()
		return err
	}
	b.hello(s)
	b.flush()
	return b.answered(ctx, s)
}

var errUnanswered = errors.New("boardsim: the server does not answer the hello")

func (b *board) hello(s *session) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ses != s {
		return
	}
	b.f.cfg.Flight.Reset(b.id) // forget what was in flight on an earlier connection
	s.up, s.hello = true, clock.Mono()
	b.step(firmware.Event{Kind: firmware.Connected})
	if b.alone { // nobody answers until somebody tells it that it is connected
		b.landed()
	}
}

// answered waits for the answer to the hello.
func (b *board) answered(ctx context.Context, s *session) error {
	late := make(chan struct{})
	t := clock.WallAfter(handshake, func() { close(late) })
	defer t.Stop()
	select {
	case <-s.done:
		return nil
	case <-late:
		return errUnanswered
	case <-b.f.ctx.Done():
		return ctx.Err()
	}
}
