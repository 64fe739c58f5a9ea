package judge

import (
	"slices"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
)

// TestDrives: a relay is driven for exactly the 5 s of its pulse and exactly until the end of its hold.
func TestDrives(t *testing.T) {
	t.Parallel()
	act := func(at int64, action, cause string, boot int) history.Event {
		return history.Event{Kind: history.Actuation, At: t0 + at, Action: action, Cause: cause, Boot: boot}
	}
	fell := func(at int64) history.Event { return history.Event{Kind: history.Released, At: t0 + at} }
	next := func(at int64, boot int) history.Event { return act(at, "deny", "onsite", boot) }
	meant := func(e history.Event, ms int64) history.Event {
		e.PulseMs = ms
		return e
	}
	late := func(e history.Event, ms int64) history.Event {
		e.LateMs = ms
		return e
	}
	rest := func(e history.Event) history.Event {
		e.OutageAgeMs = 3600_000
		return e
	}
	for name, c := range map[string]struct {
		events []history.Event
		want   []string // clauses that must fail
	}{
		"a pulse of 5 s":                {[]history.Event{act(0, "pulse", "command", 1), fell(5000), next(9000, 1)}, nil},
		"of 1 s":                        {[]history.Event{act(0, "pulse", "command", 1), fell(1000), next(9000, 1)}, []string{"CMD-1"}},
		"of 1 s on site":                {[]history.Event{act(0, "pulse", "onsite", 1), fell(1000), next(9000, 1)}, []string{"ENT-1"}},
		"of 1 s in an outage":           {[]history.Event{act(0, "pulse", "outage", 1), fell(1000), next(9000, 1)}, []string{"OFF-3"}},
		"of 50 s":                       {[]history.Event{act(0, "pulse", "command", 1), fell(50_000), next(60_000, 1)}, []string{"CMD-1"}},
		"that is meant for 50 s":        {[]history.Event{meant(act(0, "pulse", "command", 1), 50_000), fell(5000)}, []string{"CMD-1"}},
		"noted 0.3 s late":              {[]history.Event{late(act(0, "pulse", "command", 1), 300), fell(4700), next(9000, 1)}, nil},
		"noted late, 1 s short":         {[]history.Event{late(act(0, "pulse", "command", 1), 300), fell(4000), next(9000, 1)}, []string{"CMD-1"}},
		"said to be noted very late":    {[]history.Event{late(act(0, "pulse", "command", 1), 4000), fell(1000), next(9000, 1)}, []string{"CMD-1"}},
		"that never ends":               {[]history.Event{act(0, "pulse", "command", 1), next(60_000, 1)}, []string{"CMD-1"}},
		"that never ends, all is over":  {[]history.Event{act(0, "pulse", "command", 1), {Kind: history.Label, At: t0 + 10*FreshMs}}, []string{"CMD-1"}},
		"of 1 s, the last of all":       {[]history.Event{act(0, "pulse", "command", 1), fell(1000), {Kind: history.Label, At: t0 + 10*FreshMs}}, []string{"CMD-1"}},
		"of 1 s, the last of a life":    {[]history.Event{act(0, "pulse", "command", 1), {Kind: history.Rebooted, At: t0 + 1000}, fell(1000)}, nil},
		"that a reboot doesn't cut":     {[]history.Event{act(0, "pulse", "command", 1), {Kind: history.Rebooted, At: t0 + 1000}, fell(5000)}, []string{"CMD-1"}},
		"on site, that one doesn't":     {[]history.Event{act(0, "pulse", "onsite", 1), {Kind: history.Rebooted, At: t0 + 1000}, fell(5000), next(9000, 2)}, []string{"ENT-1"}},
		"that a reboot comes close to":  {[]history.Event{act(0, "pulse", "command", 1), {Kind: history.Rebooted, At: t0 + 4000}, fell(5000)}, nil},
		"that an earlier reboot leaves": {[]history.Event{{Kind: history.Rebooted, At: t0 - 1}, act(0, "pulse", "command", 2), fell(5000), next(9000, 2)}, nil},
		"a hold that outlasts a reboot": {[]history.Event{act(0, "hold", "command", 1), {Kind: history.Rebooted, At: t0 + 1000}, act(60_000, "lock", "hold_end", 2), fell(60_000)}, nil},
		"that a reboot cuts":            {[]history.Event{act(0, "pulse", "command", 1), fell(1000), next(9000, 2)}, nil},
		"that the process's end cuts":   {[]history.Event{act(0, "pulse", "command", 1), next(60_000, 2)}, nil},
		"that a close cuts":             {[]history.Event{act(0, "pulse", "command", 1), act(2000, "lock", "command", 1), fell(2000), next(9000, 1)}, nil},
		"that a close leaves":           {[]history.Event{act(0, "pulse", "command", 1), act(2000, "lock", "command", 1), fell(5000), next(9000, 1)}, []string{"CMD-7"}},
		"a second one lasts on":         {[]history.Event{act(0, "pulse", "command", 1), act(3000, "pulse", "command", 1), fell(8000), next(9000, 1)}, nil},
		"the first one's end counts":    {[]history.Event{act(0, "pulse", "command", 1), act(3000, "pulse", "command", 1), fell(5000), next(9000, 1)}, []string{"CMD-1"}},
		"a hold and its end":            {[]history.Event{act(0, "hold", "command", 1), act(60_000, "lock", "hold_end", 1), fell(60_000), next(70_000, 1)}, nil},
		"a hold whose end is late":      {[]history.Event{act(0, "hold", "command", 1), late(act(60_130, "lock", "hold_end", 1), 130), fell(60_000), next(70_000, 1)}, nil},
		"a pulse within a hold":         {[]history.Event{act(0, "hold", "command", 1), act(1000, "pulse", "command", 1), act(60_000, "lock", "command", 1), fell(60_000), next(70_000, 1)}, nil},
		"a pulse over a hold's end":     {[]history.Event{act(0, "hold", "command", 1), act(58_000, "pulse", "command", 1), act(60_000, "lock", "hold_end", 1), fell(63_000), next(70_000, 1)}, nil},
		"a lock that drives on":         {[]history.Event{act(0, "hold", "command", 1), act(60_000, "lock", "command", 1), next(70_000, 1)}, []string{"CMD-7"}},
		"a hold over a reboot":          {[]history.Event{act(0, "hold", "command", 1), next(30_000, 2), act(60_000, "lock", "hold_end", 2), fell(60_000), next(70_000, 2)}, nil},
		"a hold that falls in secret":   {[]history.Event{act(0, "hold", "command", 1), fell(30_000), next(70_000, 1)}, []string{"CMD-7"}},
		"a rest that falls in secret":   {[]history.Event{rest(act(0, "hold", "outage", 1)), fell(30_000), next(70_000, 1)}, []string{"OFF-3"}},
		"off drives nothing":            {[]history.Event{act(0, "hold", "command", 1), act(60_000, "off", "outage", 1), fell(60_000), next(70_000, 1)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := broken(c.events)
			if !slices.Equal(got, c.want) {
				t.Errorf("breaches of %v, want %v", got, c.want)
			}
		})
	}
}

// TestNotedLate: on a stalled machine a pulse may be recorded later than the usual tolerance, but not later than its
// command's delivery allows.
func TestNotedLate(t *testing.T) {
	t.Parallel()
	of := func(sent, noted, late, fell int64) []history.Event {
		return []history.Event{{Kind: history.Publish, At: t0 + sent, CommandID: "cmd_1"},
			{Kind: history.Actuation, At: t0 + noted, Action: "pulse", Cause: "command", Boot: 1, CommandID: "cmd_1", LateMs: late},
			{Kind: history.Released, At: t0 + fell}, {Kind: history.Actuation, At: t0 + 9000, Action: "deny", Cause: "onsite", Boot: 1}}
	}
	for name, c := range map[string]struct {
		events []history.Event
		want   []string
	}{
		"the machine stood 2.28 s":      {of(0, 2280, 2280, 5000), nil},
		"it did, and the pulse is 4 s":  {of(0, 2280, 2280, 4000), []string{"CMD-1"}},
		"it was sent 1 s before":        {of(3000, 4000, 4000, 5000), []string{"CMD-1"}},
		"nothing was late, and it is 3": {of(0, 10, 0, 3000), []string{"CMD-1"}},
	} {
		if got := broken(c.events); !slices.Equal(got, c.want) {
			t.Errorf("%s: breaches of %v, want %v", name, got, c.want)
		}
	}
}

// atRelay is a view of a board with one channel.
func atRelay(events []history.Event) *View {
	all := append([]history.Event{
		{Kind: history.Door, At: t0, PlaceID: "plc_1", DoorID: "dor_1", Channel: 1},
		{Kind: history.Online, At: t0, PlaceID: "plc_1", Epoch: 1},
	}, events...)
	all = append(all, history.Event{Kind: history.Released, At: all[len(all)-1].At}) // shows that this board reports releases
	for i := range all {
		all[i].BoardID, all[i].Channel = "brd_1", max(all[i].Channel, 1)
		if all[i].Kind == history.Released && i == len(all)-1 {
			all[i].Channel = 2
		}
	}
	return NewView(all)
}

func broken(events []history.Event) (clauses []string) {
	for clause, tally := range atRelay(events).driven() {
		if len(tally.found) > 0 {
			clauses = append(clauses, clause)
		}
	}
	return clauses
}
