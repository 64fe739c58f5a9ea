package command

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/board"
)

var errDisk = errors.New("disk full")

// memLedger keeps the ledger in memory, with the same strictness as the store.
type memLedger struct {
	mu      sync.Mutex
	rows    map[string]*memRow // by command id
	keys    map[keyID]string
	records map[string]vocab.Result // by command id
	settled map[string]vocab.Result
	replays map[string]int
	fail    bool
	gate    chan struct{} // Claim waits for it when not nil

	keeps      bool          // Withdraw fails
	settleGate chan struct{} // Settle waits for it when not nil
	remembers  bool          // Answered knows settled commands
}

type memRow struct {
	in      Intent
	st      Settlement
	settled bool
}

func newMemLedger() *memLedger {
	return &memLedger{rows: map[string]*memRow{}, keys: map[keyID]string{}, records: map[string]vocab.Result{}, settled: map[string]vocab.Result{}, replays: map[string]int{}}
}

func (l *memLedger) Door(doorID string) (Door, error) {
	switch doorID {
	case "dor_1":
		return Door{DoorID: "dor_1", PlaceID: "plc_a", BoardID: "brd_a", Channel: 1}, nil
	case "dor_2":
		return Door{DoorID: "dor_2", PlaceID: "plc_a", BoardID: "brd_b", Channel: 1}, nil
	case "dor_test":
		return Door{DoorID: "dor_test", PlaceID: "plc_a", BoardID: "brd_a", Channel: 2, Test: true}, nil
	case "dor_away":
		return Door{DoorID: "dor_away", PlaceID: "plc_b", BoardID: "brd_away", Channel: 1}, nil
	}
	return Door{}, ErrNoDoor
}

// pass waits until the gate opens.
func (l *memLedger) pass(gate *chan struct{}) {
	l.mu.Lock()
	ch := *gate
	l.mu.Unlock()
	if ch != nil {
		<-ch
	}
}

func (l *memLedger) Claim(in Intent, keptSince time.Time) (*Prior, error) {
	l.pass(&l.gate)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fail {
		return nil, errDisk
	}
	k := keyID{in.PlaceID, in.Key}
	if r := l.rows[l.keys[k]]; in.Key != "" && r != nil && r.in.AgedAt.After(keptSince) {
		p := &Prior{Meaning: r.in.Meaning, Settled: r.settled, Intent: r.in}
		if r.settled && r.in.Meaning == in.Meaning {
			p.Answer = Answer{Status: r.st.Status, Body: r.st.Body, Result: Result{CommandID: r.in.CommandID}}
		}
		return p, nil
	}
	l.rows[in.CommandID] = &memRow{in: in}
	if in.Key != "" {
		l.keys[k] = in.CommandID
	}
	return nil, nil
}

func (l *memLedger) Answered(placeID, key string, keptSince time.Time) (string, Answer, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.rows[l.keys[keyID{placeID, key}]]
	if !l.remembers || r == nil || !r.settled || !r.in.AgedAt.After(keptSince) {
		return "", Answer{}, false
	}
	return r.in.Meaning, Answer{Status: r.st.Status, Body: r.st.Body, Result: Result{CommandID: r.in.CommandID}}, true
}

func (l *memLedger) Withdraw(id string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.keeps {
		return errDisk
	}
	if r := l.rows[id]; r != nil && !r.settled {
		delete(l.rows, id)
	}
	return nil
}

func (l *memLedger) Settle(list ...Settlement) error {
	l.pass(&l.settleGate)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fail {
		return errDisk
	}
	for _, st := range list {
		r := l.rows[st.Intent.CommandID]
		if r == nil || r.settled {
			panic("settled twice or never claimed: " + st.Intent.CommandID)
		}
		r.settled, r.st = true, st
		l.records[st.Intent.CommandID] = RecordResult(st.Intent.Command, st.Outcome)
	}
	return nil
}

func (l *memLedger) Late(r LateReport) (Late, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fail {
		return 0, errDisk
	}
	var was Past
	if row := l.rows[r.CommandID]; row != nil {
		was = Past{BoardID: row.in.BoardID, DoorID: row.in.DoorID, Channel: 1, Command: row.in.Command, Outcome: row.st.Outcome}
	}
	verdict, as := r.Verdict(was)
	if verdict == LateSettled && l.settled[r.CommandID] != "" {
		return LateKnown, nil
	}
	if verdict == LateSettled {
		l.settled[r.CommandID] = as
	}
	return verdict, nil
}

func (l *memLedger) CountReplay(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.replays[id]++
}

func (l *memLedger) Unsettled() (list []Intent, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.rows {
		if !r.settled {
			list = append(list, r.in)
		}
	}
	return list, nil
}

// newest is the latest AgedAt of all commands.
func (l *memLedger) newest() (at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.rows {
		if r.in.AgedAt.After(at) {
			at = r.in.AgedAt
		}
	}
	return at
}

func (l *memLedger) Forget(before time.Time, limit int) (n int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, r := range l.rows {
		if r.settled && r.in.AgedAt.Before(before) && n < limit {
			delete(l.rows, id)
			n++
		}
	}
	return n, nil
}

// memBoards is the sender: it records what is sent and answers like a board.
type memBoards struct {
	mu      sync.Mutex
	sent    []wire.Command
	offline bool
	answer  func(boardID string, c wire.Command) // nil = silent
}

func (b *memBoards) Send(_ context.Context, boardID string, c wire.Command) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.offline {
		return board.ErrOffline
	}
	b.sent = append(b.sent, c)
	if b.answer != nil {
		go b.answer(boardID, c)
	}
	return nil
}

func (b *memBoards) count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.sent)
}

type rig struct {
	*Service
	l     *memLedger
	b     *memBoards
	v     *clock.Virtual
	fl    *clock.Flight
	acks  []string
	ackMu sync.Mutex
}

func newRig(t testing.TB, change func(*Config)) *rig {
	r := &rig{l: newMemLedger(), b: &memBoards{}, fl: clock.NewFlight()}
	r.v = clock.NewVirtual(time.Date(2026, 11, 1, 3, 0, 0, 0, time.UTC), r.fl)
	r.v.Freeze()
	cfg := Config{Ledger: r.l, Sender: r.b, Clock: r.v, Flight: r.fl}
	if change != nil {
		change(&cfg)
	}
	r.Service = New(cfg)
	t.Cleanup(r.Stop)
	return r
}

func (r *rig) ack(id string) func(bool) {
	return func(ok bool) {
		r.ackMu.Lock()
		defer r.ackMu.Unlock()
		r.acks = append(r.acks, fmt.Sprint(id, " ", ok))
	}
}

func (r *rig) acked() string {
	r.ackMu.Lock()
	defer r.ackMu.Unlock()
	return fmt.Sprint(r.acks)
}

// ok makes every board report success after d.
func (r *rig) ok(d time.Duration) {
	r.b.answer = func(boardID string, c wire.Command) {
		time.Sleep(d) // the bubble's time
		r.Report(boardID, wire.Report{CommandID: c.ID, Result: vocab.OK}, r.ack("rpt"))
	}
}

func render(res Result) (int, []byte) {
	status := map[vocab.Outcome]int{vocab.Reported: 200, vocab.Offline: 409, vocab.Refused: 502, vocab.NoResponse: 504}[res.Outcome]
	return status, fmt.Appendf(nil, "%s %s %s %s", res.Command, res.Outcome, res.DeviceCode, res.CommandID)
}

func open(key string) Request {
	return Request{Order: Order{PlaceID: "plc_a", DoorID: "dor_1", Command: wire.CmdOpen, Key: key, Method: "api", ActorID: "api:key_a"}, Render: render}
}
