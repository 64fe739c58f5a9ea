package planted

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/bug"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/id"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/board"
	"github.com/doorlab/doorlab/server/command"
)

// Commands puts a bug of door commands between the service and its ledger or sender.
func Commands(name string, c command.Config) command.Config {
	b := &both{Ledger: c.Ledger, Sender: c.Sender, answers: map[[2]string]command.Prior{}, sent: map[string]error{}}
	switch name {
	case bug.PublishBeforeCommit:
		early := early{b}
		c.Ledger, c.Sender = early, earlySender{b}
	case bug.MemoryOnlyLedger:
		c.Ledger = memoryOnly{b}
	case bug.ConflictAfterSend:
		c.Ledger = conflictSends{b}
	case bug.UnfinishedSentAgain:
		c.Ledger = sentAgain{b}
	case bug.RecoverSends:
		c.Ledger = recoverSends{b}
	case bug.NotAfterFromSend:
		c.Sender = fromSend{b.Sender}
	case bug.OfflineButSent:
		c.Sender = offlineButSent{b.Sender}
	case bug.SettleForgotten:
		c.Ledger = settleForgotten{b}
	case bug.LateChangesAnswer:
		c.Ledger = lateChanges{b}
	case "keys-kept-a-day", "meaning-not-compared", "keys-shared-by-places", "meaning-without-reason", "key-of-an-offline-command-free-again",
		"late-refusal-settles-as-opened", "keys-of-failures-kept-a-week", "old-keys-gone-at-a-restart",
		"unfinished-press-forgotten":
		c.Ledger = ledger{b, name}
	case "answers-remembered-too-long", "answers-remembered-anywhere":
		c.Ledger = remembering{ledger{b, name}}
	case "claim-not-awaited", "late-claim-sent", "late-claim-kept", "outcome-not-awaited":
		c.Ledger = storage{b, name}
	case "hold-minutes-not-sent", "closes-sent-as-opens":
		c.Sender = sender{b.Sender, name}
	case "operator-without-a-name-at-a-hold":
		c.Ledger = unnamed{b}
	}
	return c
}

// both is what the decorators wrap, and what they remember.
type both struct {
	command.Ledger
	command.Sender

	mu      sync.Mutex
	answers map[[2]string]command.Prior // by place and key
	sent    map[string]error            // by command
	since   time.Time                   // of the first claim
}

func (b *both) answer(in command.Intent) *command.Prior {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p, ok := b.answers[[2]string{in.PlaceID, in.Key}]; ok && in.Key != "" {
		return &p
	}
	return nil
}

// Answered never knows: what a bug of the ledger does, it does in Claim.
func (b *both) Answered(string, string, time.Time) (string, command.Answer, bool) {
	return "", command.Answer{}, false
}

// began is when the ledger was first asked.
func (b *both) began(now time.Time) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.since.IsZero() {
		b.since = now
	}
	return b.since
}

// Settle remembers the answers.
func (b *both) Settle(list ...command.Settlement) error {
	if err := b.Ledger.Settle(list...); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range list {
		in := s.Intent
		b.answers[[2]string{in.PlaceID, in.Key}] = command.Prior{Meaning: in.Meaning, Settled: true, Intent: in,
			Answer: command.Answer{Status: s.Status, Body: s.Body, Result: command.Result{CommandID: in.CommandID, DoorID: in.DoorID,
				Command: in.Command, Outcome: s.Outcome, DeviceCode: s.DeviceCode, RequestedAt: in.RequestedAt, ReportedAt: s.ReportedAt}}}
	}
	return nil
}

// send sends the command of an intent.
func (b *both) send(in command.Intent) error {
	d, err := b.Door(in.DoorID)
	if err != nil {
		return err
	}
	return b.Send(context.Background(), d.BoardID, wire.Command{ID: in.CommandID, DoorID: d.DoorID, Channel: d.Channel,
		Command: in.Command, Minutes: in.Minutes, GrantID: in.GrantID, NotAfterMs: (clock.Mono() + command.DefaultNotAfter).Milliseconds()})
}

// early sends before the claim; earlySender makes sure that this isn't sent twice.
type early struct{ *both }

func (l early) Claim(in command.Intent, keptSince time.Time) (*command.Prior, error) {
	if l.answer(in) == nil {
		err := l.send(in)
		l.mu.Lock()
		l.sent[in.CommandID] = err
		l.mu.Unlock()
	}
	return l.Ledger.Claim(in, keptSince)
}

type earlySender struct{ b *both }

func (s earlySender) Send(ctx context.Context, boardID string, c wire.Command) error {
	s.b.mu.Lock()
	err, was := s.b.sent[c.ID]
	delete(s.b.sent, c.ID)
	s.b.mu.Unlock()
	if was {
		return err
	}
	return s.b.Send(ctx, boardID, c)
}

type memoryOnly struct{ *both }

func (l memoryOnly) Claim(in command.Intent, keptSince time.Time) (*command.Prior, error) {
	if p := l.answer(in); p != nil {
		return p, nil
	}
	in.Key = ""
	return l.Ledger.Claim(in, keptSince)
}

type conflictSends struct{ *both }

func (l conflictSends) Claim(in command.Intent, keptSince time.Time) (*command.Prior, error) {
	p, err := l.Ledger.Claim(in, keptSince)
	if p != nil && p.Meaning != in.Meaning {
		in.CommandID = id.New(id.Command, in.RequestedAt)
		_ = l.send(in)
	}
	return p, err
}

type sentAgain struct{ *both }

func (l sentAgain) Unsettled() ([]command.Intent, error) { return nil, nil }

func (l sentAgain) Claim(in command.Intent, keptSince time.Time) (*command.Prior, error) {
	p, err := l.Ledger.Claim(in, keptSince)
	if p != nil && !p.Settled && p.Meaning == in.Meaning {
		in.Key = ""
		return l.Ledger.Claim(in, keptSince)
	}
	return p, err
}

type recoverSends struct{ *both }

func (l recoverSends) Unsettled() ([]command.Intent, error) {
	list, err := l.Ledger.Unsettled()
	for _, in := range list {
		go func() { // as soon as the board is back
			for range 50 {
				if l.send(in) == nil {
					return
				}
				over := make(chan struct{})
				clock.WallAfter(100*time.Millisecond, func() { close(over) })
				<-over
			}
		}()
	}
	return list, err
}

type fromSend struct{ command.Sender }

func (s fromSend) Send(ctx context.Context, boardID string, c wire.Command) error {
	c.NotAfterMs = (clock.Mono() + command.DefaultNotAfter).Milliseconds()
	return s.Sender.Send(ctx, boardID, c)
}

type offlineButSent struct{ command.Sender }

func (s offlineButSent) Send(ctx context.Context, boardID string, c wire.Command) error {
	_ = s.Sender.Send(ctx, boardID, c)
	return board.ErrOffline
}

type settleForgotten struct{ *both }

func (settleForgotten) Settle(...command.Settlement) error { return nil }

type lateChanges struct{ *both }

func (l lateChanges) Late(r command.LateReport) (command.Late, error) {
	got, err := l.Ledger.Late(r)
	if got == command.LateSettled {
		l.mu.Lock()
		l.sent[r.CommandID] = nil
		l.mu.Unlock()
	}
	return got, err
}

func (l lateChanges) Claim(in command.Intent, keptSince time.Time) (*command.Prior, error) {
	p, err := l.Ledger.Claim(in, keptSince)
	if p != nil && p.Settled {
		l.mu.Lock()
		if _, late := l.sent[p.Intent.CommandID]; late {
			p.Answer.Status, p.Answer.Body = 200, []byte(`{"success":true}`)
		}
		l.mu.Unlock()
	}
	return p, err
}

// ledger has small bugs concerning keys.
type ledger struct {
	*both
	name string
}

func (l ledger) Claim(in command.Intent, keptSince time.Time) (*command.Prior, error) {
	switch l.name {
	case "keys-kept-a-day":
		keptSince = in.RequestedAt.Add(-24 * time.Hour)
	case "keys-shared-by-places":
		if p := l.anywhere(in); p != nil {
			return p, nil
		}
	}
	p, err := l.Ledger.Claim(in, keptSince)
	if p == nil {
		return nil, err
	}
	switch l.name {
	case "meaning-not-compared":
		p.Meaning = in.Meaning
	case "meaning-without-reason":
		if reasonless(p.Meaning) == reasonless(in.Meaning) {
			p.Meaning = in.Meaning
		}
	case "key-of-an-offline-command-free-again":
		if p.Answer.Result.Outcome == vocab.Offline {
			in.Key = ""
			return l.Ledger.Claim(in, keptSince)
		}
	}
	if l.freed(*p, in.RequestedAt, l.began(in.RequestedAt)) {
		in.Key = ""
		return l.Ledger.Claim(in, keptSince)
	}
	return p, err
}

// reasonless is a request's meaning without its last line, the reason.
func reasonless(meaning string) string { return meaning[:strings.LastIndexByte(meaning, '\n')+1] }

func (l ledger) Unsettled() ([]command.Intent, error) {
	list, err := l.Ledger.Unsettled()
	if l.name == "unfinished-press-forgotten" {
		list = each.If(list, func(in command.Intent) bool { return in.Key != "" })
	}
	return list, err
}

func (l ledger) Late(r command.LateReport) (command.Late, error) {
	r.Refused = r.Refused && l.name != "late-refusal-settles-as-opened"
	return l.Ledger.Late(r)
}

// anywhere finds an answer under the key at another place.
func (l ledger) anywhere(in command.Intent) *command.Prior {
	l.mu.Lock()
	defer l.mu.Unlock()
	for k, p := range l.answers {
		if in.Key != "" && k[1] == in.Key && k[0] != in.PlaceID {
			p.Meaning = in.Meaning
			return &p
		}
	}
	return nil
}

// remembering has bugs in what the ledger keeps in memory.
type remembering struct{ ledger }

func (l remembering) Answered(placeID, key string, _ time.Time) (string, command.Answer, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for k, p := range l.answers {
		if k[1] == key && (k[0] == placeID || l.name == "answers-remembered-anywhere") {
			return p.Meaning, p.Answer, true
		}
	}
	return "", command.Answer{}, false
}

// sender has small bugs of what is sent.
type sender struct {
	command.Sender
	name string
}

func (s sender) Send(ctx context.Context, boardID string, c wire.Command) error {
	switch s.name {
	case "hold-minutes-not-sent":
		c.Minutes = 0
	case "closes-sent-as-opens":
		if c.Command == wire.CmdClose {
			c.Command = wire.CmdOpen
		}
	}
	return s.Sender.Send(ctx, boardID, c)
}
