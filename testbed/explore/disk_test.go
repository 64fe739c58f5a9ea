package explore

import (
	"context"
	"slices"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/board"
	"github.com/doorlab/doorlab/server/command"
)

// write blocks until an action carries it out.
func (w *state) write(life int, name string, do func()) error {
	w.mu.Lock()
	if life != w.lives || w.auto {
		if life == w.lives {
			do()
		}
		w.mu.Unlock()
		return nil
	}
	o := &op{name, func() { w.mu.Lock(); do(); w.mu.Unlock() }, make(chan error, 1)}
	w.ops = append(w.ops, o)
	w.mu.Unlock()
	return <-o.res
}

func (w *state) row(id string) *row {
	i := slices.IndexFunc(w.rows, func(r *row) bool { return r.in.CommandID == id })
	if i < 0 {
		return nil
	}
	return w.rows[i]
}

// ledger is the disk as one run of the server sees it.
type ledger struct {
	w    *state
	life int
}

func (l ledger) Door(id string) (command.Door, error) {
	return command.Door{DoorID: id, PlaceID: place, BoardID: brd, Channel: 1}, nil
}

func (l ledger) Claim(in command.Intent, _ time.Time) (prior *command.Prior, err error) {
	w, at := l.w, clock.Mono()
	err = w.write(l.life, "claim "+in.Command, func() {
		for _, r := range w.rows {
			if in.Key != "" && r.in.Key == in.Key {
				prior = &command.Prior{Meaning: r.in.Meaning, Settled: r.st != nil, Intent: r.in}
				if r.st != nil {
					prior.Answer = command.Answer{Status: r.st.Status, Body: r.st.Body, Result: command.Result{CommandID: r.in.CommandID, Outcome: r.st.Outcome}}
				}
				return
			}
		}
		w.name(in.CommandID)
		w.rows = append(w.rows, &row{in: in, acceptd: at})
	})
	return prior, err
}

func (l ledger) Withdraw(id string) error {
	return l.w.write(l.life, "withdraw", func() {
		l.w.rows = slices.DeleteFunc(l.w.rows, func(r *row) bool { return r.in.CommandID == id && r.st == nil })
	})
}

func (l ledger) Settle(list ...command.Settlement) error {
	for _, s := range list { // each is a separate write, which gives more orders than the store has
		if err := l.settle(s); err != nil {
			return err
		}
	}
	return nil
}

func (l ledger) settle(s command.Settlement) error {
	w := l.w
	w.mu.Lock()
	name := "settle " + w.name(s.Intent.CommandID)
	w.mu.Unlock()
	return w.write(l.life, name, func() {
		r := w.row(s.Intent.CommandID)
		if r == nil || r.st != nil {
			return
		}
		if s.Outcome == vocab.NoResponse && w.taken[s.Intent.CommandID] {
			w.fail("CMD-4: a report had come in, and the outcome is noResponse")
		}
		r.st = &s
	})
}

func (l ledger) Late(r command.LateReport) (command.Late, error) {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	was := command.Past{}
	x := l.w.row(r.CommandID)
	if x != nil {
		was = command.Past{BoardID: x.in.BoardID, DoorID: x.in.DoorID, Channel: 1, Command: x.in.Command}
		if x.st != nil {
			was.Outcome = x.st.Outcome
		}
	}
	v, as := r.Verdict(was)
	if v == command.LateSettled && l.life == l.w.lives {
		x.lateAs = as
	}
	return v, nil
}

func (l ledger) CountReplay(string) {}
func (l ledger) Answered(string, string, time.Time) (string, command.Answer, bool) {
	return "", command.Answer{}, false
}
func (l ledger) Forget(time.Time, int) (int, error) { return 0, nil }
func (l ledger) Unsettled() (list []command.Intent, err error) {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	for _, r := range l.w.rows {
		if r.st == nil {
			list = append(list, r.in)
		}
	}
	return list, nil
}

// sender is the line to the board.
type sender ledger

func (s sender) Send(_ context.Context, _ string, c wire.Command) error {
	w := s.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.online || s.life != w.lives || w.died {
		return board.ErrOffline
	}
	w.sent[c.ID]++
	switch r := w.row(c.ID); {
	case r == nil:
		w.fail("CMD-5: %s %s was sent without a durable intent", w.name(c.ID), c.Command)
	case w.sent[c.ID] > 1:
		w.fail("CMD-6: %s was sent twice", w.name(c.ID))
	}
	c.Epoch, c.Seq, c.NotAfterMs = w.epoch, 1, w.session(c.NotAfterMs)
	w.down = append(w.down, c)
	return nil
}
