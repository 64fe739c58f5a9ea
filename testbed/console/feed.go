package console

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/command"
	"github.com/doorlab/doorlab/server/entry"
)

// What a Feed keeps: the latest of each, in ring buffers.
const (
	keepChains   = 1024
	keepMessages = 4096
	keepBytes    = 2048 // of one message
	keepVisits   = 256
)

// Feed keeps the latest commands, messages and visits for viewers. It is called inline where things happen, so it
// copies and does nothing else.
type Feed struct {
	clk     clock.Clock
	mu      sync.Mutex
	chains  [keepChains]Chain
	began   int // chains that began
	byID    map[string]int
	visits  [keepVisits]visit
	came    int
	rate    rate
	msgMu   sync.Mutex
	msgs    [keepMessages]Message
	passed  int
	jumpMu  sync.Mutex   // of changes of jumping
	jumping atomic.Value // []*fallout, replaced and never changed: it is read at every event
}

// NewFeed returns an empty feed.
func NewFeed(clk clock.Clock) *Feed {
	return &Feed{clk: clk, byID: make(map[string]int, keepChains)}
}

// Chain is a command with the moments of its way, on the monotonic clock; 0 = not reached.
type Chain struct {
	ID, PlaceID, DoorID, BoardID    string
	Command, Method, Actor, GrantID string
	Key                             string // hash of the Idempotency-Key
	Minutes                         int
	At                              time.Time // domain time of the request
	Outcome                         string    // "" = in progress
	Status                          int       // of the answer; 0 = none yet
	Answer                          []byte

	Accepted, Decided, Committed, Published, Relay, Reported, Settled time.Duration
	Action, Cause                                                     string // of the relay
}

// Took is how long the command took, or has taken so far.
func (c Chain) Took() time.Duration {
	if c.Settled != 0 {
		return c.Settled - c.Accepted
	}
	return clock.Mono() - c.Accepted
}

// visit is a person who came to a reader, or whose call or link was refused before there was a command.
type visit struct {
	At                       time.Time
	PlaceID, BoardID, DoorID string
	What, Way                string // keys: at a reader by phone or link; the way of what was refused
	Who, GrantID             string // masked, "" until a board has uploaded its record; which grant it is about
	Result, Reason           string
	Record                   int64 // a board's number of it, 0 = none
	Line                     int64 // of the board's journal, 0 = none
}

// Message is one message of a board as it went over the line.
type Message struct {
	N       int
	At      time.Time     // domain time
	Mono    time.Duration // monotonic
	BoardID string
	Down    bool
	Channel string
	Size    int
	payload []byte
}

// Command implements server.Watch.
func (f *Feed) Command(p command.Point, t *command.Trail) {
	if p != command.AfterClaim && p != command.AfterPublish && p != command.AfterCommit {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	in := &t.Intent
	if p == command.AfterClaim {
		slot := &f.chains[f.began%keepChains]
		delete(f.byID, slot.ID)
		*slot = Chain{ID: in.CommandID, PlaceID: in.PlaceID, DoorID: in.DoorID, BoardID: in.BoardID, Command: in.Command, Method: string(in.Method),
			Actor: in.ActorLabel, GrantID: in.GrantID, Key: history.KeyHash(in.PlaceID, in.Key), Minutes: in.Minutes, At: in.RequestedAt,
			Accepted: t.Accepted, Decided: t.Decided, Committed: t.Committed}
		f.byID[in.CommandID] = f.began
		f.began++
		return
	}
	if c := f.chain(in.CommandID); c != nil {
		c.Published = t.Published
		if p == command.AfterCommit {
			c.Outcome, c.Reported, c.Settled, c.Status, c.Answer = string(t.Outcome), t.Reported, t.Settled, t.Status, slices.Clone(t.Body)
		}
	}
	if p == command.AfterCommit {
		f.rate.add(t.Settled, t.Settled-t.Accepted)
	}
}

// Restarted settles the commands that the server's previous life left without an outcome, as its next start does: nobody
// tells the feed.
func (f *Feed) Restarted() {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := clock.Mono()
	for _, n := range f.byID {
		if c := &f.chains[n%keepChains]; c.Settled == 0 {
			c.Outcome, c.Settled, c.Status = string(vocab.NoResponse), now, http.StatusGatewayTimeout
		}
	}
}

// chain is a command that is kept. Called with mu held.
func (f *Feed) chain(id string) *Chain {
	n, ok := f.byID[id]
	if !ok {
		return nil
	}
	return &f.chains[n%keepChains]
}

// Message implements server.Watch.
func (f *Feed) Message(boardID string, down bool, channel string, payload []byte) {
	at, mono := f.clk.Now(), clock.Mono()
	if channel == wire.UpRec && !down {
		f.recorded(boardID, payload)
	}
	f.msgMu.Lock()
	defer f.msgMu.Unlock()
	m := &f.msgs[f.passed%keepMessages]
	kept := append(m.payload[:0], payload[:min(len(payload), keepBytes)]...)
	*m = Message{N: f.passed, At: at, Mono: mono, BoardID: boardID, Down: down, Channel: channel, Size: len(payload), payload: kept}
	f.passed++
}

// recorded names the people of a board's visits from the records that it uploads: nothing else says who came.
func (f *Feed) recorded(boardID string, payload []byte) {
	var batch wire.Records
	if wire.Unmarshal(payload, &batch) != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range batch.Records {
		head := r.PhoneHead
		if !digits(head, 3) {
			head = ""
		}
		for i := range f.visits {
			if v := &f.visits[i]; v.BoardID == boardID && v.Record == r.Seq && v.Record != 0 && digits(r.PhoneTail, 4) {
				_, v.Who = access.MaskEnds(head, r.PhoneTail)
			}
		}
	}
}

// digits reports whether a text is so many digits. No board can get more of a phone onto a page.
func digits(text string, n int) bool { return len(text) == n && strings.Trim(text, "0123456789") == "" }

// Event processes the events that the parts report to the history.
func (f *Feed) Event(e history.Event) {
	for _, j := range f.watchers() {
		j.add(e)
	}
	switch {
	case e.Kind == history.Actuation && e.CommandID != "":
		f.mu.Lock()
		if c := f.chain(e.CommandID); c != nil {
			c.Relay, c.Action, c.Cause = clock.Mono(), e.Action, e.Cause
		}
		f.mu.Unlock()
	case e.Kind == history.Presented:
		v := visit{At: time.UnixMilli(e.At).UTC(), BoardID: e.BoardID, DoorID: e.DoorID, Result: string(e.Result), Reason: string(e.Reason), What: "visit.phone", GrantID: e.GrantID, Record: e.RecordSeq, Line: e.JournalSeq}
		if e.TokenHash != "" {
			v.What = "visit.link"
		}
		f.visit(v)
	}
}

// Denied implements server.Watch.
func (f *Feed) Denied(d entry.Denial) {
	f.visit(visit{At: d.At.UTC(), PlaceID: d.PlaceID, DoorID: d.DoorID, What: "command.open", Way: "way." + string(d.Method), Who: d.Who, GrantID: d.GrantID,
		Result: string(vocab.Denied), Reason: string(d.Reason)})
}

func (f *Feed) visit(v visit) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.visits[f.came%keepVisits] = v
	f.came++
}

// Chain finds a command by its id.
func (f *Feed) Chain(id string) (Chain, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.chain(id)
	if c == nil {
		return Chain{}, false
	}
	return *c, true
}

// Latest are the latest n commands and visits, newest first.
func (f *Feed) Latest(n int) (chains []Chain, visits []visit) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := f.began - 1; i >= max(0, f.began-min(n, keepChains)); i-- {
		chains = append(chains, f.chains[i%keepChains])
	}
	for i := f.came - 1; i >= max(0, f.came-min(n, keepVisits)); i-- {
		visits = append(visits, f.visits[i%keepVisits])
	}
	return chains, visits
}

// Messages are the latest n of a board, newest first; about is what they must
// contain, "" = anything.
func (f *Feed) Messages(boardID, about string, n int) (out []Message) {
	f.msgMu.Lock()
	defer f.msgMu.Unlock()
	for i := f.passed - 1; i >= max(0, f.passed-keepMessages) && len(out) < n; i-- {
		m := f.msgs[i%keepMessages]
		if m.BoardID == boardID && (about == "" || bytes.Contains(m.payload, []byte(about))) {
			m.payload = slices.Clone(m.payload)
			out = append(out, m)
		}
	}
	return out
}

// who is the masked person of a visit that led to a line of its board's journal; "" = not known here.
func (f *Feed) who(doorID, line string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.visits {
		if v := &f.visits[i]; v.Line != 0 && v.DoorID == doorID && strconv.FormatInt(v.Line, 10) == line {
			return v.Who
		}
	}
	return ""
}

// Rate summarizes the last ten seconds of commands.
func (f *Feed) Rate() (perSecond float64, p50, p99 time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.rate.read(clock.Mono())
}

// Text is the message with its secrets masked.
func (m Message) Text() string { return masked(m.payload, m.Size > len(m.payload)) }

// Says is the kind of message, for people: "command", "report" ...
func (m Message) Says() string {
	switch {
	case m.Channel == wire.DownCmd:
		return "command"
	case m.Channel == wire.UpRpt:
		return "report"
	case m.Channel == wire.UpRec:
		return "records"
	}
	return m.Channel
}
