package boardsim

import (
	"fmt"
	"testing"

	"github.com/doorlab/doorlab/boardsim/firmware"
)

// TestDoubleActuationsAreCounted: counted from the journal, so a firmware that forgot the command can't hide it.
// Refusals and entries without a command don't count.
func TestDoubleActuationsAreCounted(t *testing.T) {
	t.Parallel()
	for name, lines := range map[string]struct {
		entries []firmware.Entry
		want    int64
	}{
		"one pulse":             {[]firmware.Entry{by("a", firmware.ActPulse), by("b", firmware.ActPulse)}, 0},
		"two pulses":            {[]firmware.Entry{by("a", firmware.ActPulse), by("b", firmware.ActHold), by("a", firmware.ActPulse)}, 1},
		"refused, then opened":  {[]firmware.Entry{by("a", firmware.ActRefuse), by("a", firmware.ActPulse)}, 0},
		"opened, then refused":  {[]firmware.Entry{by("a", firmware.ActPulse), by("a", firmware.ActRefuse)}, 0},
		"on site, twice":        {[]firmware.Entry{{Action: firmware.ActPulse, Cause: firmware.CauseOnsite}, {Action: firmware.ActPulse, Cause: firmware.CauseOnsite}}, 0},
		"three times by one id": {[]firmware.Entry{by("a", firmware.ActLock), by("a", firmware.ActLock), by("a", firmware.ActLock)}, 2},
		"far apart":             {append(append([]firmware.Entry{by("a", firmware.ActPulse)}, others(200)...), by("a", firmware.ActPulse)), 1},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, false, func(r *rig) {
				b := r.fleet.boards[0]
				b.mu.Lock()
				defer b.mu.Unlock()
				for _, e := range lines.entries {
					b.write(e)
				}
				if got := r.fleet.count.twice.Load(); got != lines.want {
					t.Errorf("%d double actuations, want %d", got, lines.want)
				}
			})
		})
	}
}

// TestDoubleActuationsAfterARestart: a new process knows the commands of the one before.
func TestDoubleActuationsAfterARestart(t *testing.T) {
	bubble(t, false, func(r *rig) {
		pulse := func(e firmware.Entry) {
			b := r.fleet.boards[0]
			b.mu.Lock()
			defer b.mu.Unlock()
			b.write(e)
		}
		pulse(by("a", firmware.ActPulse))
		for _, e := range others(200) {
			pulse(e)
		}
		r.halt()
		r.boot()
		pulse(by("a", firmware.ActPulse))
		if got := r.fleet.count.twice.Load(); got != 1 {
			t.Errorf("%d double actuations, want 1", got)
		}
	})
}

// others are pulses of n different commands.
func others(n int) (out []firmware.Entry) {
	for i := range n {
		out = append(out, by(fmt.Sprint("other", i), firmware.ActPulse))
	}
	return out
}

func by(command string, action firmware.Action) firmware.Entry {
	return firmware.Entry{DoorID: "dor_one1", Channel: 1, Action: action, Cause: firmware.CauseCommand, CommandID: command}
}
