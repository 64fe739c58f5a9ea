package board

import (
	"testing"
	"time"
)

func TestANewerStandingIsKept(t *testing.T) {
	t.Parallel()
	report := func(seq, turn, since int64) Reported {
		return Reported{Standing: Standing{Channel: 1, Seq: seq, Since: since}, Origin: Origin{ByReport, turn}}
	}
	by := func(by By, r Reported) Reported { r.By = by; return r }
	for name, tc := range map[string]struct {
		known, says Reported
		want        bool
	}{
		"a greater number": {report(5, 9, 9), report(6, 1, 1), true},
		"a smaller number, though its command came later": {report(6, 1, 1), report(5, 9, 9), false},
		"the same report again":                           {report(5, 9, 9), by(ByLate, report(5, 9, 9)), false},
		"a state message that was overtaken":              {report(6, 1, 1), by(ByState, report(5, 9, 9)), false},
		"a hello, though its number is smaller":           {report(6, 9, 9), by(ByHello, report(1, 10, 1)), true},
		"no number, a later command, same time":           {report(0, 1, 5), report(0, 2, 5), true},
		"no number, a later command, clock set back":      {report(0, 1, 5), report(0, 2, 1), true},
		"no number, an earlier command":                   {report(0, 2, 5), report(0, 1, 6), false},
		"no number, the same report again":                {report(0, 2, 5), by(ByLate, report(0, 2, 5)), false},
		"no number, a command from before the hello":      {by(ByHello, report(0, 3, 5)), report(0, 2, 6), false},
		"no number, a command after the hello":            {by(ByHello, report(0, 3, 5)), report(0, 4, 5), true},
		"no number, a state message":                      {report(0, 2, 5), by(ByState, report(0, 3, 5)), true},
		"no number, after the state that crossed it":      {by(ByState, report(0, 3, 5)), report(0, 2, 5), true},
		"no number, before the state that crossed it":     {by(ByState, report(0, 3, 5)), report(0, 2, 4), false},
		"no number, late, with the state's time":          {by(ByState, report(0, 3, 5)), by(ByLate, report(0, 2, 5)), false},
		"only one has a number":                           {report(0, 1, 5), report(7, 2, 5), true},
		"from before the server's start, newer":           {by(ByPrevious, report(0, 0, 5)), by(ByLate, report(0, 0, 6)), true},
		"from before the server's start, no newer":        {by(ByPrevious, report(0, 0, 5)), by(ByLate, report(0, 0, 5)), false},
	} {
		if got := tc.says.follows(tc.known); got != tc.want {
			t.Errorf("%s: got %t, want %t", name, got, tc.want)
		}
	}
}

// TestAnotherBoardNumbersAnew: a board that takes another's place starts from a smaller number, with or without
// standings in its hello.
func TestAnotherBoardNumbersAnew(t *testing.T) {
	t.Parallel()
	s := State{Doors: doors, Standings: map[int]Reported{1: {Standing: Standing{Channel: 1, State: "locked", Seq: 1 << 40}}}}
	s.Stand(nil, Origin{ByHello, 1}, time.UnixMilli(1))
	if !s.Stand([]Standing{{Channel: 1, State: "unlocked", Seq: 1}}, Origin{ByReport, 2}, time.UnixMilli(2)) || s.Standings[1].State != "unlocked" {
		t.Errorf("got %+v, want the new board's standing", s.Standings[1])
	}
}

func TestTimesAreTheServers(t *testing.T) {
	t.Parallel()
	const sent, came, minutes = 1_000_000_000, 1_000_000_400, 600_000
	for name, tc := range map[string]struct {
		at     int64
		since  int64
		state  bool // a state message, otherwise a report
		known  bool // the server knows when it sent the command
		wanted int64
	}{
		"a right clock":                     {sent + 50, sent + 50, false, true, sent + 50},
		"an hour slow":                      {sent + 50 - 3_600_000, sent + 50 - 3_600_000, false, true, sent},
		"an hour fast":                      {sent + 50 + 3_600_000, sent + 50 + 3_600_000, false, true, came},
		"a little fast":                     {came + 900, came + 900, false, true, came + 900},
		"a state that lasts":                {sent - 7_200_000, sent - 9_200_000, false, true, sent - 2_000_000},
		"no time in the report":             {0, sent - 3_600_000, false, true, sent - 3_600_000},
		"no time in the report, fast":       {0, sent + 3_600_000, false, true, came},
		"not a time":                        {-1 << 62, sent + 3_600_000, false, true, came},
		"very late, from an earlier server": {sent - 3_600_000, sent - 3_600_000, false, false, sent - 3_600_000},
		"a state message that travelled":    {came - 9_000, came - 9_000, true, false, came - 9_000},
		"a state message, slow":             {came - 60_000, came - 60_000, true, false, came},
		"a state message, fast":             {came + 60_000, came + 50_000, true, false, came - 10_000},
	} {
		until := tc.since + minutes
		h := Heard{At: tc.at, Report: !tc.state, Arrived: time.UnixMilli(came)}
		if tc.known {
			h.Sent = time.UnixMilli(sent)
		}
		if got := h.OnTime(Standing{Since: tc.since, HoldUntil: &until}); got.Since != tc.wanted || *got.HoldUntil != tc.wanted+minutes {
			t.Errorf("%s: since %d until %d, want %d and %d", name, got.Since-sent, *got.HoldUntil-sent, tc.wanted-sent, tc.wanted+minutes-sent)
		}
		if until != tc.since+minutes {
			t.Errorf("%s: the report was changed", name)
		}
	}
	until := int64(came + minutes) // since is left over from a fast clock
	if got := (Heard{At: came, Report: true, Sent: time.UnixMilli(sent), Arrived: time.UnixMilli(came)}).OnTime(Standing{Since: came + 3_600_000, HoldUntil: &until}); got.Since != came || *got.HoldUntil != until {
		t.Errorf("since %d until %d, want now and unchanged", got.Since, *got.HoldUntil)
	}
}
