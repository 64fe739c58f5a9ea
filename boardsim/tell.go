package boardsim

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/control"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/near"
	"github.com/doorlab/doorlab/internal/wire"
)

// maxMeanwhile is how much of what a board sends by itself is kept until it is next told something.
const maxMeanwhile = 100

// telling is for a board that is told: somebody speaks in the server's place, and the history doesn't see it.
type telling struct {
	told      bool
	alone     bool   // it hears nothing else, not even its server
	meanwhile []said // what it sent since it was last told something
}

// remember keeps what a board that is told things sends.
func (b *board) remember(s said) {
	if len(b.meanwhile) == maxMeanwhile {
		b.meanwhile = b.meanwhile[1:]
	}
	b.meanwhile = append(b.meanwhile, s)
}

// toldWithin is how long a board that is told something for the first time has to connect again.
const toldWithin = 10 * time.Second

// said is a message that a board sent because of an event.
type said struct {
	Channel string `json:"channel"`
	Payload any    `json:"payload"`
}

// tell says something to a board in the server's place, as if it had come over the board's connection. From the first
// time on, the history takes the board for one that was taken away, because nobody can say what it should do; attach
// brings it back empty. Without a channel, nothing is said, and the answer shows where the board stands.
func (f *Fleet) tell(w http.ResponseWriter, r *http.Request, b *board) {
	var in struct {
		Channel string          `json:"channel"`
		Payload json.RawMessage `json:"payload"`
		Raw     *string         `json:"raw"`
		Alone   *bool           `json:"alone"`
	}
	if !control.Body(w, r, &in) {
		return
	}
	switch {
	case in.Channel != "" && !slices.Contains(wire.Down, in.Channel):
		control.FailField(w, "channel", "must be one of "+strings.Join(wire.Down, ", ")+near.Hint(in.Channel, wire.Down))
		return
	case in.Payload != nil && in.Raw != nil:
		control.FailField(w, "raw", "can't go with payload: a message has one of them")
		return
	case in.Channel == "" && (in.Payload != nil || in.Raw != nil):
		control.FailMissing(w, "channel", "is missing, one of "+strings.Join(wire.Down, ", "))
		return
	case b.test:
		control.Fail(w, http.StatusConflict, "rule_violated", "a board of a test place only listens to its server; choose one of a live place", nil)
		return
	}
	s := b.listening(r.Context(), w, in.Alone)
	if s == nil {
		return
	}
	payload := []byte(in.Payload)
	if in.Raw != nil {
		payload = []byte(*in.Raw)
	} else if payload == nil {
		payload = []byte("{}")
	}
	b.mu.Lock()
	if b.ses != s {
		b.mu.Unlock()
		unheard(w, b)
		return
	}
	out := heardView{Said: []said{}, Meanwhile: append([]said{}, b.meanwhile...), Journal: []entryJSON{}}
	if in.Channel != "" {
		b.hear(s, in.Channel, payload, &out)
	}
	b.stands(s, &out)
	b.meanwhile = nil
	b.mu.Unlock()
	b.flush()
	control.Data(w, out)
}

// heardView is where a board stands after it was told something, and what it did about it at once.
type heardView struct {
	Epoch     int64        `json:"epoch"`
	SessionMs int64        `json:"sessionMs"` // the board's estimate of the server's session time
	Boot      int          `json:"boot"`
	Revision  int64        `json:"revision"`
	Digest    string       `json:"digest"`
	Netloss   wire.Netloss `json:"netloss"`
	Said      []said       `json:"said"`              // in order; reports last, as they were before any fault
	Meanwhile []said       `json:"meanwhile"`         // what it had sent since it was last told something: a hello, records
	Journal   []entryJSON  `json:"journal"`           // relays that moved
	Dropped   string       `json:"dropped,omitempty"` // why the board dropped the message
}

// hear gives the board a message from its server, and notes what came of it. Called with mu held.
func (b *board) hear(s *session, channel string, payload []byte, out *heardView) {
	ev, err := b.f.decode(b.placeID, channel, payload)
	if err != nil {
		out.Dropped = err.Error()
		return
	}
	o := b.handle(s, ev)
	out.Said = append(out.Said, o.said...)
	for _, rpt := range o.reports {
		out.Said = append(out.Said, said{wire.UpRpt, rpt})
	}
	for _, e := range o.journal {
		out.Journal = append(out.Journal, e.view(b.id))
	}
}

// stands notes where the board stands. Called with mu held.
func (b *board) stands(s *session, out *heardView) {
	out.Epoch, out.SessionMs, out.Boot = b.s.Epoch, s.sessionMs(), b.s.Boot
	out.Revision, out.Digest = b.s.Content.Revision, b.s.Content.Digest()
	out.Netloss = b.s.Netloss
	out.Netloss.Channels = maps.Clone(out.Netloss.Channels)
}

// listening is the board's live connection. When the board is told something for the first time, that is a new one: what
// the server had told it before belongs to the board that the history knew. nil = there is none, and 409 was answered.
// alone: from now on (or no longer) the board hears nothing else, so its next connection counts from its hello on.
func (b *board) listening(ctx context.Context, w http.ResponseWriter, alone *bool) *session {
	ctx, cancel := context.WithTimeout(ctx, toldWithin)
	defer cancel()
	for {
		b.mu.Lock()
		if b.stopped {
			b.mu.Unlock()
			gone(w)
			return nil
		}
		s, cut := b.live(), b.lineBad != ""
		if s != nil && (!b.told || alone != nil && *alone != b.alone) {
			b.takeOver(alone != nil && *alone)
			s = nil
		}
		b.mu.Unlock()
		b.flush()
		if s != nil {
			return s
		}
		if cut || client.Pause(ctx, heardEvery) != nil {
			unheard(w, b)
			return nil
		}
	}
}

// takeOver takes the board from the history, unless it was before, and ends its connection. Called with mu held.
func (b *board) takeOver(alone bool) {
	if !b.told {
		b.emit(history.Event{Kind: history.Detached})
		b.emit(history.Event{Kind: history.Hand, Op: "tell"})
	}
	b.told, b.alone = true, alone
	b.drop()
	b.tries = 0
	b.redial()
}

// live is the connection on which the server has answered the hello, or one on which a board says hello that hears only
// what it is told; nil = there is none. Called with mu held.
func (b *board) live() *session {
	if b.ses == nil || b.lineBad != "" || b.ses.base == 0 && !(b.alone && b.ses.up) {
		return nil
	}
	return b.ses
}

func unheard(w http.ResponseWriter, b *board) {
	control.Fail(w, http.StatusConflict, "rule_violated", fmt.Sprintf("board %s isn't connected, so it can't be told anything; clear its faults, or wait until it is back", b.id), nil)
}
