package device

import (
	"context"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/id"
	"github.com/doorlab/doorlab/internal/plant"
	"github.com/doorlab/doorlab/internal/wire"
)

// call is one command from claim to answer. It runs on a goroutine of its own:
// a caller that hangs up ends nothing.
type call struct {
	s       *Service
	req     Request
	meaning string
	door    Door
	in      Intent
	ph      Phases

	claimed chan struct{} // closed once the claim is decided
	fresh   bool          // ... and it was ours
	done    chan struct{} // closed when ans or err stands
	ans     Answer
	err     error

	mu      sync.Mutex
	report  *wire.Report
	at      time.Time     // of the report
	arrived chan struct{} // closed with the first report
	decided string        // outcome; "" = still waiting
	after   []func()      // what waits for the commit
	over    bool          // ... which has been: nothing waits any more
	work    func()        // ends the flight's work
}

func newCall(s *Service, r Request, door Door) *call {
	now := s.now()
	c := &call{s: s, req: r, meaning: meaning(r), door: door,
		claimed: make(chan struct{}), done: make(chan struct{}), arrived: make(chan struct{}), work: s.cfg.Flight.Begin()}
	c.ph.Accepted = clock.Mono()
	if r.EntryReason == "" {
		r.EntryReason = "api"
	}
	c.in = Intent{CommandID: id.New(id.Command, now), PlaceID: r.PlaceID, Key: r.Key, Meaning: c.meaning,
		DoorID: door.DoorID, BoardID: door.BoardID, Command: r.Command, Minutes: r.Minutes, Reason: r.Reason,
		Method: r.Method, ActorID: r.ActorID, ActorLabel: r.ActorLabel, GrantID: r.GrantID, EntryReason: r.EntryReason,
		RequestedAt: now}
	c.in.Status, c.in.Body = c.render(c.result(NoResponse)) // stands if we die [CMD-6]
	return c
}

func (c *call) render(r Result) (int, []byte) {
	if c.req.Render == nil {
		return 0, nil
	}
	return c.req.Render(r)
}

// result is the outcome as the caller is told. Called with mu held or before run.
func (c *call) result(outcome string) Result {
	r := Result{CommandID: c.in.CommandID, DoorID: c.in.DoorID, Command: c.in.Command, Outcome: outcome, RequestedAt: c.in.RequestedAt}
	switch outcome {
	case NoResponse:
		r.TimeoutMs = c.s.cfg.Wait.Milliseconds()
	case Reported, Refused:
		r.ReportedAt = c.at
		if c.report != nil {
			r.DeviceCode, r.Standing = c.report.Code, c.report.Standing
		}
	}
	return r
}

func (c *call) run() {
	defer c.s.leave(c)
	defer func() { c.work() }()
	early := c.plantedSend()
	mine := c.claim()
	close(c.claimed)
	if !mine {
		c.s.forget(c)
		close(c.done)
		return
	}
	c.ph.Committed = clock.Mono()
	c.s.cfg.Step("after-claim")
	c.settle(c.outcome(early))
}

// claim commits the intent; when the key is taken, or on an error, the answer is decided.
func (c *call) claim() (mine bool) {
	s := c.s
	if prior := c.plantedClaim(); prior != nil {
		return false
	}
	prior, err := s.cfg.Ledger.Claim(c.in, s.now().Add(-Retention))
	switch {
	case err != nil:
		c.err = err
	case prior == nil:
		c.fresh = true
		s.cfg.History(history.Event{Kind: history.Intent, At: s.now().UnixMilli(), PlaceID: c.in.PlaceID, DoorID: c.in.DoorID,
			CommandID: c.in.CommandID, Key: history.KeyHash(c.in.PlaceID, c.req.Key), Op: c.in.Command, Method: c.in.Method, GrantID: c.in.GrantID})
	case prior.Meaning != c.meaning:
		s.count.reused.Add(1)
		c.plantedConflict()
		c.err = ErrReused
	case !prior.Settled: // an earlier life's, or a commit that nobody knew of
		c.ans, c.err = s.abandon(prior.Intent)
		c.ans.Replayed = true
		_ = s.cfg.Ledger.CountReplay(prior.Intent.CommandID)
	default:
		s.count.replayed.Add(1)
		c.ans = prior.Answer
		c.ans.Replayed = true
	}
	return c.fresh
}

// conflict tells a caller with another request under a running key whether to
// try again: the running one may itself be about to learn that the key is taken.
func (c *call) conflict(ctx context.Context, r Request) (again bool, err error) {
	select {
	case <-c.claimed:
	case <-ctx.Done():
		return false, ctx.Err()
	}
	if c.fresh {
		c.s.count.reused.Add(1)
		if plant.Is("conflict-after-send") {
			c.s.sendPlanted(r, c.door)
		}
		return false, ErrReused
	}
	select {
	case <-c.done:
		return true, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// outcome sends the command and waits for what comes of it.
func (c *call) outcome(sent bool) string {
	s := c.s
	play := simulate(c.req)
	switch play.outcome {
	case Offline:
		return c.decide(Offline)
	case Refused:
		c.mu.Lock()
		c.report, c.at = &wire.Report{Result: wire.ResultRefused, Code: play.code}, s.now()
		c.mu.Unlock()
		return c.decide(Refused)
	case NoResponse:
		sent = !play.opened // nothing goes out unless it is to open
	}
	if !sent {
		s.cfg.Step("before-publish")
		if err := s.send(c.in, c.door); err != nil { // [CMD-2] nothing was sent
			return c.decide(Offline)
		}
	}
	c.ph.Published = clock.Mono()
	if c.req.Sent != nil {
		c.req.Sent()
	}
	s.cfg.Step("after-publish")
	c.idle()
	return c.wait(play)
}

func (s *Service) send(in Intent, d Door) error {
	return s.cfg.Sender.Send(context.Background(), d.BoardID, wire.Command{ID: in.CommandID, DoorID: d.DoorID, Channel: d.Channel,
		Command: in.Command, Minutes: in.Minutes, GrantID: in.GrantID,
		NotAfterMs: (clock.Mono() + s.cfg.NotAfter).Milliseconds()}) // [CMD-4]
}

// idle ends the flight's work while there is nothing to do but wait, unless a
// report is there already: a silent board must not hold a jump up.
func (c *call) idle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.report == nil {
		c.work()
	}
}

// wait returns the outcome: the report's, or noResponse when the wait is over.
func (c *call) wait(play sim) string {
	over := make(chan struct{})
	defer clock.WallAfter(c.s.cfg.Wait, func() { close(over) }).Stop()
	arrived := c.arrived
	if play.outcome == NoResponse {
		arrived = nil
	}
	select {
	case <-arrived:
	case <-over:
		return c.decide(NoResponse)
	case <-c.s.stop:
		return c.decide(NoResponse)
	}
	if rest := play.delay - (clock.Mono() - c.ph.Published); rest > 0 {
		held := make(chan struct{})
		defer clock.WallAfter(rest, func() { close(held) }).Stop()
		select {
		case <-held:
		case <-over:
			return c.decide(NoResponse)
		case <-c.s.stop:
			return c.decide(NoResponse)
		}
	}
	if c.report.Result == wire.ResultRefused {
		return c.decide(Refused)
	}
	return c.decide(Reported)
}

// decide fixes the outcome: what comes in from now on is late or a duplicate.
func (c *call) decide(outcome string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.decided = outcome
	if c.report == nil { // with a report the work goes on already
		c.begin()
	}
	return outcome
}

// begin begins the flight's work anew. Called with mu held.
func (c *call) begin() {
	end := c.work
	c.work = c.s.cfg.Flight.Begin()
	end()
}

// settle commits outcome, record and answer, and then answers. While the store
// is away callers are told so and the commit is tried again.
func (c *call) settle(outcome string) {
	s := c.s
	c.mu.Lock()
	res := c.result(outcome)
	c.mu.Unlock()
	st := Settlement{Intent: c.in, Outcome: outcome, DeviceCode: res.DeviceCode, ReportedAt: res.ReportedAt}
	st.Status, st.Body = c.render(res)
	s.cfg.Step("before-commit")
	err := s.cfg.Ledger.Settle(st)
	for pause := 50 * time.Millisecond; err != nil; pause = min(2*pause, 2*time.Second) {
		if c.err == nil {
			c.err = err
			close(c.done)
		}
		if !s.pause(pause) {
			return // the next start settles it
		}
		err = s.cfg.Ledger.Settle(st)
	}
	s.cfg.Step("after-commit")
	c.finish(res, st)
}

func (c *call) finish(res Result, st Settlement) {
	s := c.s
	c.ph.Outcome, c.ph.Settled = res.Outcome, clock.Mono()
	s.count.outcome(res.Outcome)
	if s.cfg.Observe != nil {
		s.cfg.Observe(c.ph)
	}
	c.plantedFinish(Answer{Status: st.Status, Body: st.Body, Result: res})
	s.forget(c)
	if c.err == nil {
		c.ans = Answer{Status: st.Status, Body: st.Body, Result: res}
		s.cfg.Step("before-answer")
		close(c.done)
	}
	c.mu.Lock()
	after := c.after
	c.after, c.over = nil, true
	c.mu.Unlock()
	for _, f := range after {
		f()
	}
}

// pause waits on wall time; false when the service stops.
func (s *Service) pause(d time.Duration) bool {
	over := make(chan struct{})
	defer clock.WallAfter(d, func() { close(over) }).Stop()
	select {
	case <-over:
		return true
	case <-s.stop:
		return false
	}
}
