package command

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/id"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/wire"
)

// execution is one command from claim to answer. It runs on its own goroutine, so a caller that hangs up ends nothing.
// Callers are answered once, by whichever of these comes first.
//
//	stage     event                         callers get            and then
//	claiming  the claim is durable in time                         running
//	          the key is taken, or it fails prior's answer, error  over
//	          NotAfter passes, or Stop      503                    the claim is withdrawn once it is durable
//	running   the board has no connection                          settling as offline
//	          the first report                                     settling as reported or refused
//	          Wait passes, or Stop                                 settling as noResponse
//	settling  the outcome is durable        the outcome            over
//	          it can't be written           503                    tried again until Stop; the next start makes it noResponse
//	          Answer passes, or Stop        504 or 503             as above: a 504 is durable with the claim, nothing else is
//
// A report that comes while settling waits for the commit: after noResponse it is late, else it is a repeat. Kill ends
// every stage without answer or write.
type execution struct {
	s       *Service
	req     Request
	meaning string
	door    Door
	trail   Trail

	claimed chan struct{} // closed once the claim is decided
	fresh   bool          // ... and it was ours
	done    chan struct{} // closed when ans or err stands
	once    sync.Once     // guards ans, err and done
	ans     Answer
	err     error

	mu      sync.Mutex
	stage   stage
	overdue func() // stage settling: answers without the commit
	report  *wire.Report
	at      time.Time     // of the report
	arrived chan struct{} // closed with the first report
	decided vocab.Outcome // outcome; "" = still waiting
	after   []func()      // to run after the commit
	over    bool          // the commit is done: run at once what would wait for it
	work    func()        // ends the flight's work
}

// stage is what an execution is waiting for from the ledger.
type stage int

const (
	claiming stage = iota
	running        // nothing: the claim is durable and in time, now it's up to the board
	settling
)

func newExecution(s *Service, r Request, door Door) *execution {
	now := s.now()
	c := &execution{s: s, req: r, meaning: meaning(r), door: door,
		claimed: make(chan struct{}), done: make(chan struct{}), arrived: make(chan struct{}), work: s.cfg.Flight.Begin()}
	c.trail.Decided, c.trail.Caller = clock.Mono(), r.caller
	c.trail.Accepted = cmp.Or(r.Accepted, c.trail.Decided)
	r.EntryReason = cmp.Or(r.EntryReason, vocab.Reason(vocab.API))
	c.trail.Intent = Intent{CommandID: id.New(id.Command, now), Order: r.Order, Meaning: c.meaning, BoardID: door.BoardID,
		RequestedAt: now, AgedAt: s.cfg.Ages.Ran()}
	c.trail.Intent.Status, c.trail.Intent.Body = c.render(c.result(vocab.NoResponse)) // the answer if we die [CMD-6]
	return c
}

// run takes a command through its whole life: claim the key, send once, wait for the report, commit outcome, record and
// answer, and only then answer.
func (c *execution) run() {
	defer c.s.leave(c)
	defer func() { c.work() }()
	prior, err := c.claim()
	c.fresh = prior == nil && err == nil
	inTime := c.fresh && c.inTime()
	close(c.claimed)
	switch {
	case !c.fresh:
		ans, err := c.replay(prior, err)
		c.s.forget(c)
		c.answer(ans, err)
	case !inTime:
		c.withdraw()
	default:
		c.trail.Committed = clock.Mono()
		c.pass(AfterClaim)
		c.settle(c.outcome())
	}
}

// claim commits the intent, unless the place has the key already. Callers wait for it no longer than the board may wait
// before it acts.
func (c *execution) claim() (*Prior, error) {
	defer clock.WallAfter(c.s.cfg.NotAfter, c.unclaimed).Stop()
	return c.s.cfg.Ledger.Claim(c.trail.Intent, c.trail.Intent.AgedAt.Add(-Retention))
}

// unclaimed answers the callers when claiming takes too long.
func (c *execution) unclaimed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stage == claiming {
		c.answer(Answer{}, ErrUnavailable)
	}
}

// inTime reports whether the command may still be sent: callers are waiting for it, and the board could still act in
// time.
func (c *execution) inTime() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stage = running
	return !c.answered() && clock.Mono()-c.trail.Decided <= c.s.cfg.NotAfter // [CMD-4]
}

// withdraw takes back a claim that became durable too late: nothing was sent,
// the callers have been answered 503, and the key becomes free again.
func (c *execution) withdraw() {
	c.answer(Answer{}, ErrUnavailable)
	if c.s.persist(func() error { return c.s.cfg.Ledger.Withdraw(c.trail.Intent.CommandID) }, nil) {
		c.s.count.Withdrawn.Add(1)
		c.pass(Withdrawn)
	} // else the next start settles it
}

// replay is the answer when the key is taken, or the claim failed.
func (c *execution) replay(prior *Prior, err error) (Answer, error) {
	s := c.s
	if err != nil {
		return Answer{}, err
	}
	if in := prior.Intent; !prior.Settled && prior.Meaning == c.meaning { // a previous run's, or one whose commit went unnoticed
		if err := s.abandon(in); err != nil {
			return Answer{}, err
		}
		s.cfg.Ledger.CountReplay(in.CommandID)
		return Answer{Status: in.Status, Body: in.Body, Replayed: true, Result: Result{CommandID: in.CommandID, DoorID: in.DoorID, Command: in.Command,
			Outcome: vocab.NoResponse, TimeoutMs: s.cfg.Wait.Milliseconds(), RequestedAt: in.RequestedAt}}, nil
	}
	return s.again(prior.Meaning, prior.Answer, c.meaning)
}

// conflict decides whether a caller with a different request under a running key tries again: the running command may
// itself be about to learn that the key is taken.
func (c *execution) conflict(ctx context.Context) (again bool, err error) {
	select {
	case <-c.claimed:
		if c.fresh && !c.answered() {
			c.s.count.Reused.Add(1)
			return false, ErrReused
		}
	case <-c.done: // before the claim: it takes too long
	case <-ctx.Done():
		return false, ctx.Err()
	}
	select {
	case <-c.done:
	case <-c.s.dead:
		return false, ErrStopped
	case <-ctx.Done():
		return false, ctx.Err()
	}
	switch {
	case errors.Is(c.err, ErrUnavailable), errors.Is(c.err, ErrStopped):
		return false, c.err
	case c.fresh:
		c.s.count.Reused.Add(1)
		return false, ErrReused
	}
	return true, nil
}

// outcome sends the command and waits for its outcome.
func (c *execution) outcome() vocab.Outcome {
	play, _ := simulate(c.req)
	switch play.outcome {
	case vocab.Offline:
		return c.decide(vocab.Offline)
	case vocab.Refused:
		c.mu.Lock()
		c.report, c.at = &wire.Report{Result: vocab.Refused, Code: play.code}, c.s.now()
		c.mu.Unlock()
		return c.decide(vocab.Refused)
	}
	if play.outcome != vocab.NoResponse || play.opened { // simulated silence needs no board
		c.pass(BeforePublish)
		if err := c.send(); err != nil { // [CMD-2] nothing was sent
			return c.decide(vocab.Offline)
		}
	}
	c.trail.Published = clock.Mono()
	if c.req.Sent != nil {
		c.req.Sent()
	}
	c.pass(AfterPublish)
	c.idle()
	return c.wait(play)
}

func (c *execution) send() error {
	in := &c.trail.Intent
	return c.s.cfg.Sender.Send(context.Background(), c.door.BoardID, wire.Command{ID: in.CommandID, DoorID: c.door.DoorID,
		Channel: c.door.Channel, Command: in.Command, Minutes: in.Minutes, GrantID: in.GrantID,
		NotAfterMs: (c.trail.Decided + c.s.cfg.NotAfter).Milliseconds()}) // [CMD-4]
}

// wait returns the outcome: the report's, or noResponse when the wait is over.
func (c *execution) wait(play sim) vocab.Outcome {
	over := make(chan struct{})
	defer clock.WallAfter(c.s.cfg.Wait, func() { close(over) }).Stop()
	arrived := c.arrived
	if play.outcome == vocab.NoResponse {
		arrived = nil
	}
	select {
	case <-arrived:
	case <-over:
		return c.decide(vocab.NoResponse)
	case <-c.s.stop:
		return c.decide(vocab.NoResponse)
	}
	if rest := play.delay - (clock.Mono() - c.trail.Published); rest > 0 {
		held := make(chan struct{})
		defer clock.WallAfter(rest, func() { close(held) }).Stop()
		select {
		case <-held:
		case <-over:
			return c.decide(vocab.NoResponse)
		case <-c.s.stop:
			return c.decide(vocab.NoResponse)
		}
	}
	if c.report.Result == vocab.Refused {
		return c.decide(vocab.Refused)
	}
	return c.decide(vocab.Reported)
}

// decide fixes the outcome. Reports that arrive afterwards are late or duplicates.
func (c *execution) decide(outcome vocab.Outcome) vocab.Outcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.decided, c.trail.Outcome = outcome, outcome
	if c.report == nil { // with a report the work goes on already
		c.begin()
	}
	return outcome
}

// settle commits outcome, record and answer, and then answers. While the store is unavailable, callers are told so and
// the commit is tried again.
func (c *execution) settle(outcome vocab.Outcome) {
	c.mu.Lock()
	res := c.result(outcome)
	c.mu.Unlock()
	st := Settlement{Intent: c.trail.Intent, Outcome: outcome, DeviceCode: res.DeviceCode, ReportedAt: res.ReportedAt}
	st.Status, st.Body = c.render(res)
	c.trail.Status, c.trail.Body = st.Status, st.Body
	ans := Answer{Status: st.Status, Body: st.Body, Result: res}
	c.pass(BeforeCommit)
	defer c.bound(ans).Stop()
	if !c.s.persist(func() error { return c.s.cfg.Ledger.Settle(st) }, func(err error) { c.answer(Answer{}, err) }) {
		return // the next start settles it
	}
	c.trail.Settled = clock.Mono()
	c.s.count.outcome(outcome)
	c.pass(AfterCommit)
	c.s.forget(c)
	if !c.answered() {
		c.pass(BeforeAnswer)
		c.answer(ans, nil)
	}
	c.release()
}

// bound makes sure that callers are answered in time even if the commit hangs or the service stops. A 504 is durable
// with the claim; any other answer is unknown until it is committed.
func (c *execution) bound(ans Answer) clock.Timer {
	overdue := func() {
		if ans.Result.Outcome == vocab.NoResponse {
			c.answer(ans, nil)
		}
		c.answer(Answer{}, ErrUnavailable)
	}
	c.mu.Lock()
	c.stage, c.overdue = settling, overdue
	c.mu.Unlock()
	select {
	case <-c.s.stop:
		c.hurry()
	default:
	}
	return clock.WallAfter(c.trail.Decided+c.s.cfg.Answer-clock.Mono(), overdue)
}

// hurry answers the callers when the service stops.
func (c *execution) hurry() {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.stage == claiming:
		c.answer(Answer{}, ErrStopped)
	case c.stage == settling && c.decided == vocab.NoResponse:
		c.overdue()
	case c.stage == settling:
		clock.WallAfter(stopGrace, c.overdue)
	}
}

// answer answers all callers; the first answer wins.
func (c *execution) answer(a Answer, err error) {
	c.once.Do(func() {
		c.ans, c.err = a, err
		close(c.done)
	})
}

func (c *execution) answered() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}
