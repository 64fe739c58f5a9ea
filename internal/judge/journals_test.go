package judge

import (
	"slices"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
)

// TestJournals: ground-truth lines that contradict the board's numbering, reboots, content or outage are found.
func TestJournals(t *testing.T) {
	t.Parallel()
	line := func(at, seq int64, boot int, rev int64, cause string) history.Event {
		return history.Event{Kind: history.Actuation, At: t0 + at, JournalSeq: seq, Boot: boot, Revision: rev, Action: "deny", Cause: cause}
	}
	aged := func(e history.Event, ms int64) history.Event {
		e.OutageAgeMs = ms
		return e
	}
	applied := history.Event{Kind: history.Applied, At: t0, Revision: 7}
	reboot := history.Event{Kind: history.Rebooted, At: t0 + 2000}
	wiped := history.Event{Kind: history.Wiped, At: t0 + 2000}
	taken, told, back := history.Event{Kind: history.Detached, At: t0 + 1}, history.Event{Kind: history.Hand, At: t0 + 1}, history.Event{Kind: history.Attached, At: t0 + 2}
	away, again := history.Event{Kind: history.Detached, At: t0 + 2000}, history.Event{Kind: history.Attached, At: t0 + 602_000}
	late := func(e history.Event, ms int64) history.Event {
		e.LateMs = ms
		return e
	}
	begun := history.Event{Kind: history.Begun, At: t0 + 2}
	door := func(n int) history.Event { return history.Event{Kind: history.Door, DoorID: "dor_1", Channel: n} }
	moves := func(seq int64, n int) history.Event {
		return history.Event{Kind: history.Actuation, At: t0 + seq, JournalSeq: seq, Boot: 1, Action: "pulse", Cause: "command", DoorID: "dor_1", Channel: n}
	}
	cut := history.Event{Kind: history.Line, At: t0 + 2000, Op: "down", Text: "offline"}
	for name, c := range map[string]struct {
		events []history.Event
		want   []string // clauses that must fail
	}{
		"in order":                          {[]history.Event{line(0, 3, 1, 7, "onsite"), line(1, 4, 1, 7, "onsite")}, nil},
		"a line is missing":                 {[]history.Event{line(0, 3, 1, 7, "onsite"), line(1, 5, 1, 7, "onsite")}, []string{"ENT-1"}},
		"lines of when it was told":         {[]history.Event{line(0, 3, 1, 7, "onsite"), taken, told, back, line(3, 9, 1, 7, "onsite"), line(4, 10, 1, 7, "onsite")}, nil},
		"a line is missing since":           {[]history.Event{line(0, 3, 1, 7, "onsite"), taken, told, back, line(3, 9, 1, 7, "onsite"), line(4, 11, 1, 7, "onsite")}, []string{"ENT-1"}},
		"told, and numbers begin again":     {[]history.Event{line(0, 3, 1, 7, "onsite"), taken, told, back, line(3, 3, 1, 7, "onsite")}, []string{"ENT-1"}},
		"lines from before the run":         {[]history.Event{line(0, 3, 1, 7, "command"), begun, line(3, 9, 1, 7, "onsite"), line(4, 10, 1, 7, "onsite")}, nil},
		"holds from before the run":         {[]history.Event{line(0, 3, 1, 7, "command"), line(1, 5, 1, 7, "command"), begun, line(3, 9, 1, 7, "onsite"), line(4, 10, 1, 7, "onsite")}, nil},
		"holds that go back":                {[]history.Event{line(0, 5, 1, 7, "command"), line(1, 3, 1, 7, "command"), begun, line(3, 9, 1, 7, "onsite")}, []string{"CMD-1"}},
		"a line of the run is missing":      {[]history.Event{line(0, 3, 1, 7, "command"), begun, line(3, 9, 1, 7, "onsite"), line(4, 11, 1, 7, "onsite")}, []string{"ENT-1"}},
		"lines of when it was away":         {[]history.Event{line(0, 3, 1, 7, "onsite"), taken, back, line(3, 9, 1, 7, "onsite")}, []string{"ENT-1"}},
		"numbers begin again":               {[]history.Event{line(0, 3, 1, 7, "onsite"), reboot, line(3000, 1, 2, 7, "command")}, []string{"CMD-1"}},
		"a reboot raises the boot":          {[]history.Event{line(0, 3, 1, 7, "onsite"), reboot, line(3000, 4, 2, 7, "onsite")}, nil},
		"a reboot leaves the boot":          {[]history.Event{line(0, 3, 1, 7, "onsite"), reboot, line(3000, 4, 1, 7, "hold_end")}, []string{"CMD-7"}},
		"a wiped board begins again":        {[]history.Event{line(0, 3, 5, 7, "onsite"), wiped, line(3000, 4, 2, 0, "outage")}, []string{"OFF-3"}},
		"a wiped board has nothing":         {[]history.Event{applied, line(1, 3, 1, 7, "onsite"), wiped, line(3000, 4, 2, 0, "onsite")}, nil},
		"what it has":                       {[]history.Event{applied, line(1, 3, 1, 7, "onsite")}, nil},
		"less than it acknowledged":         {[]history.Event{applied, line(1, 3, 1, 6, "onsite")}, []string{"ENT-1"}},
		"a hold's end in an outage":         {[]history.Event{cut, aged(line(62_000, 3, 1, 7, "hold_end"), 60_000)}, nil},
		"a hold's end that denies it":       {[]history.Event{cut, line(62_000, 3, 1, 7, "hold_end")}, []string{"CMD-7"}},
		"a hold's end that makes it longer": {[]history.Event{applied, cut, aged(line(62_000, 3, 1, 7, "hold_end"), 90_000)}, []string{"CMD-7"}},
		"a hold's end while it was away":    {[]history.Event{away, again, late(aged(line(602_000, 3, 1, 7, "hold_end"), 300_000), 300_000)}, nil},
		"a hold's end that isn't late":      {[]history.Event{away, again, aged(line(602_000, 3, 1, 7, "hold_end"), 300_000)}, []string{"CMD-7"}},
		"a hold's end too late for that":    {[]history.Event{away, again, late(aged(line(610_000, 3, 1, 7, "hold_end"), 300_000), 300_000)}, []string{"CMD-7"}},
		"the door's channel":                {[]history.Event{door(3), moves(1, 3)}, nil},
		"another door's channel":            {[]history.Event{door(3), moves(1, 1)}, []string{"CMD-1"}},
		"a door that has moved":             {[]history.Event{moves(1, 1), door(3), moves(2, 3)}, nil},
		"a hello after an outage":           {[]history.Event{cut, aged(history.Event{Kind: history.Online, At: t0 + 62_000}, 60_000)}, nil},
		"a hello that exaggerates it":       {[]history.Event{applied, cut, aged(history.Event{Kind: history.Online, At: t0 + 62_000}, 40*3600_000)}, []string{"OFF-4"}},
		"a clock that is lost":              {[]history.Event{applied, reboot, aged(line(3000, 1, 2, 7, "hold_end"), -1)}, nil},
		"a clock lost without a reason":     {[]history.Event{applied, cut, aged(line(62_000, 1, 1, 7, "outage"), -1)}, []string{"OFF-3"}},
		"a hello that has lost its clock":   {[]history.Event{applied, cut, aged(history.Event{Kind: history.Online, At: t0 + 62_000}, -1)}, []string{"OFF-4"}},
		"... after a reboot":                {[]history.Event{applied, reboot, aged(history.Event{Kind: history.Online, At: t0 + 62_000}, -1)}, nil},
		"... twice, and not heard":          {[]history.Event{applied, reboot, aged(history.Event{Kind: history.Online, At: t0 + 62_000}, -1), aged(history.Event{Kind: history.Online, At: t0 + 63_000}, -1)}, nil},
		"... twice, though heard":           {[]history.Event{applied, reboot, aged(history.Event{Kind: history.Online, At: t0 + 62_000}, -1), applied, aged(history.Event{Kind: history.Online, At: t0 + 63_000}, -1)}, []string{"OFF-4"}},
		"a hello that denies it":            {[]history.Event{cut, {Kind: history.Online, At: t0 + 62_000}}, []string{"OFF-4"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := broken(c.events); !slices.Equal(got, c.want) {
				t.Errorf("breaches of %v, want %v", got, c.want)
			}
		})
	}
}

// TestJournalOfABoardMetLater: a missing line is found, too, if the run had begun before anything was known of the board.
func TestJournalOfABoardMetLater(t *testing.T) {
	t.Parallel()
	of := func(e history.Event) history.Event {
		e.BoardID, e.PlaceID, e.DoorID, e.Channel, e.Boot = "brd_1", "plc_1", "dor_1", 1, 1
		return e
	}
	line := func(seq int64) history.Event {
		return of(history.Event{Kind: history.Actuation, At: t0 + seq, JournalSeq: seq, Action: "deny", Cause: "onsite"})
	}
	for _, c := range []struct {
		second int64
		want   int
	}{{10, 0}, {11, 1}} {
		v := NewView([]history.Event{{Kind: history.Begun, At: t0}, of(history.Event{Kind: history.Door, At: t0 + 1}), line(9), line(c.second)})
		if got := len(v.driven()["ENT-1"].found); got != c.want {
			t.Errorf("line %d after line 9: %d breaches, want %d", c.second, got, c.want)
		}
	}
}
