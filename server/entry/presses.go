package entry

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/command"
	"github.com/doorlab/doorlab/server/fail"
)

// button is what is pressed: one button of one link, or one door of one calling number.
type button struct{ who, door string }

// press opens a door, also for those who press the same button right after it. done is closed once res and err stand.
type press struct {
	at   time.Time
	done chan struct{}
	res  OpenResult
	err  error
}

// over reports whether the next press of the button opens the door again.
func (p *press) over(now time.Time) bool {
	select {
	case <-p.done:
		return p.err != nil || now.Sub(p.at) >= onePress
	default:
		return false
	}
}

// presses remembers those that another press of the same button would join.
type presses struct {
	mu    sync.Mutex
	last  map[button]*press
	sweep int             // size at which finished ones are thrown out
	first map[string]bool // commands of this run's first 3 s: their records aren't an earlier run's
}

const manyPresses = 1024

// join finds the press of a button that is running or just done, or starts one.
func (ps *presses) join(b button, now time.Time, admit func() error) (p *press, mine bool, err error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if p := ps.last[b]; p != nil && !p.over(now) {
		return p, false, nil
	}
	if err := admit(); err != nil {
		return nil, false, err
	}
	if len(ps.last) >= max(manyPresses, ps.sweep) {
		for b, p := range ps.last {
			if p.over(now) {
				delete(ps.last, b)
			}
		}
		ps.sweep = 2 * len(ps.last)
	}
	p = &press{at: now, done: make(chan struct{})}
	ps.last[b] = p
	return p, true, nil
}

// made notes a command of this run so long after its beginning.
func (ps *presses) made(commandID string, after time.Duration) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	switch {
	case after >= onePress:
		ps.first = nil
	case ps.first == nil:
		ps.first = map[string]bool{commandID: true}
	default:
		ps.first[commandID] = true
	}
}

// mine reports whether a command is one that made has noted.
func (ps *presses) mine(commandID string) bool {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return ps.first[commandID]
}

// date says when a press was really made: its 3 s don't begin again with the run that found it.
func (ps *presses) date(p *press, at time.Time) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	p.at = at
}

// press opens once for the same person and door within 3 s, and at most 6 times per minute per link or number. It takes
// its place among the six before it sends anything, so that presses at the same moment can't exceed them, and gives it
// back if it opened nothing: a line that is down doesn't use up anybody's openings. open runs to its end even if the
// caller has gone. A press that joins sends nothing, so its visit ends right away.
func (s *Service) press(ctx context.Context, b button, v visit, open func() (OpenResult, error)) (OpenResult, error) {
	now := v.now
	p, mine, err := s.presses.join(b, now, func() error {
		if ok, retry := s.openings.Allow(b.who, now); !ok {
			return &fail.Error{Code: fail.RateLimited, Message: "too many openings within a minute", RetryAfter: retry}
		}
		if ok, retry := s.attempts.Allow(b.who, now); !ok {
			s.openings.Return(b.who, now)
			return &fail.Error{Code: fail.RateLimited, Message: "too many attempts within a minute", RetryAfter: retry}
		}
		return nil
	})
	if err != nil {
		return OpenResult{}, err
	}
	if mine {
		p.err = errAborted // what the others get if open panics
		defer close(p.done)
		res, known, err := s.earlier(b, v)
		switch {
		case known:
			s.presses.date(p, res.Device.RequestedAt)
		case err == nil:
			res, err = open()
			s.presses.made(res.Device.CommandID, now.Sub(s.began))
		}
		if !mayHaveOpened(v, res, err) {
			s.openings.Return(b.who, now)
		}
		p.res, p.err = res, err
		return res, err
	}
	v.end()
	select {
	case <-p.done:
		return p.res, p.err
	case <-ctx.Done():
		return OpenResult{}, ctx.Err()
	}
}

// moves are the results of openings for which the door moved or may have moved.
var moves = map[vocab.Result]vocab.Outcome{
	vocab.Opened:                   vocab.Reported,
	vocab.Result(vocab.NoResponse): vocab.NoResponse,
}

// mayHaveOpened reports whether an opening counts. After an error it does if its command was sent: what became of it
// couldn't be stored.
func mayHaveOpened(v visit, res OpenResult, err error) bool {
	if err != nil {
		return v.sent.Load()
	}
	_, moved := moves[res.Result]
	return moved
}

// earlier is the opening of the same person at the same door less than 3 s ago that the server's previous run made or
// may have made: a restart must not turn one press into two openings. Records tell of it, and the ledger tells whose press
// it was.
func (s *Service) earlier(b button, v visit) (res OpenResult, known bool, err error) {
	since := v.now.Add(-onePress)
	if !s.began.After(since) || v.now.Before(s.began) {
		return OpenResult{}, false, nil
	}
	list, _, err := s.cfg.Store.Records(v.place.ID, since, maxLimit, 0)
	if err != nil {
		return OpenResult{}, false, err
	}
	for _, r := range list {
		outcome, moved := moves[r.Result]
		if !moved || r.Method != v.method || r.DoorID != b.door || !r.RequestedAt.After(since) || r.RequestedAt.After(s.began) || s.presses.mine(r.CommandID) {
			continue
		}
		mark, err := s.cfg.Store.PressOf(r.CommandID)
		if err != nil && !errors.Is(err, fail.ErrNotFound) {
			return OpenResult{}, false, err
		}
		if mark != v.mark {
			continue
		}
		v.end()
		return OpenResult{Result: r.Result, DoorID: r.DoorID, DoorName: r.DoorName, Device: command.Result{CommandID: r.CommandID, DoorID: r.DoorID,
			Command: wire.CmdOpen, Outcome: outcome, RequestedAt: r.RequestedAt, TimeoutMs: s.cfg.Wait.Milliseconds()}}, true, nil
	}
	return OpenResult{}, false, nil
}
