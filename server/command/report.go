package command

import (
	"slices"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/wire"
)

// Report handles a board's report. If the command it names is running, it gets its outcome; otherwise the report
// settles the record of an old 504, or is dropped and counted. ack is called once everything about the report is
// committed, perhaps later and on another goroutine (accepted false: the board should stop sending it), and never if
// the commit failed: the board sends it again. first tells that this report completes a running command.
func (s *Service) Report(boardID string, r wire.Report, ack func(accepted bool)) (first bool) {
	if s.isDead() {
		return false
	}
	if !sound(r) {
		s.count.GarbageReports.Add(1)
		ack(false)
		return false
	}
	s.mu.Lock()
	c := s.byID[r.CommandID]
	s.mu.Unlock()
	if c == nil {
		s.late(boardID, r, ack)
		return false
	}
	if c.door.BoardID != boardID || !names(r.Standing, c.door) {
		s.count.ForeignReports.Add(1)
		ack(false)
		return false
	}
	return c.take(r, ack)
}

// Running reports whether a command is in progress.
func (s *Service) Running(commandID string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byID[commandID] != nil
}

// sound reports whether a report makes sense.
func sound(r wire.Report) bool {
	switch r.Result {
	case vocab.OK:
		return r.CommandID != ""
	case vocab.Refused:
		return r.CommandID != "" && slices.Contains(wire.RefusalCodes, r.Code)
	}
	return false
}

// names reports whether a report's standing, if it has one, is that of the command's door.
func names(s *wire.Standing, d Door) bool {
	return s == nil || s.Channel == d.Channel && (s.DoorID == "" || s.DoorID == d.DoorID)
}

// take keeps the first report of a running command. Repeats are acknowledged together with it; what arrives after the
// wait is late.
func (c *execution) take(r wire.Report, ack func(bool)) (first bool) {
	then := c.settled(r, ack)
	c.mu.Lock()
	if c.over {
		c.mu.Unlock()
		then()
		return false
	}
	defer c.mu.Unlock()
	c.after = append(c.after, then)
	if c.report != nil || c.decided != "" {
		return false
	}
	c.report, c.at = &r, c.s.now()
	c.trail.Reported = clock.Mono()
	c.begin() // before the message stops counting as in flight
	close(c.arrived)
	return true
}

// settled returns what to do with a report once the command is committed: acknowledge it or, after a 504, settle the
// record late.
func (c *execution) settled(r wire.Report, ack func(bool)) func() {
	return func() {
		if c.decided == vocab.NoResponse {
			c.s.late(c.door.BoardID, r, ack)
			return
		}
		ack(true)
	}
}

// late handles a report for a command that was answered long ago, see CMD-4.
func (s *Service) late(boardID string, r wire.Report, ack func(bool)) {
	done := s.cfg.Flight.Begin()
	defer done()
	got, err := s.cfg.Ledger.Late(LateReport{CommandID: r.CommandID, BoardID: boardID,
		Refused: r.Result == vocab.Refused, Standing: r.Standing, ReportedAt: s.now()})
	if err != nil {
		return // not acknowledged: the board sends it again
	}
	switch got {
	case LateUnsettled:
		return // likewise: one that was acknowledged is never sent again
	case LateUnknown:
		s.count.UnknownReports.Add(1)
	case LateForeign:
		s.count.ForeignReports.Add(1)
	case LateSettled:
		s.count.LateReports.Add(1)
	}
	ack(got == LateKnown || got == LateSettled)
}
