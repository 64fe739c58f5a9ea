package boardsim

import (
	"slices"
	"time"
)

// Move is what a relay did, as shown beside a request.
type Move struct {
	Seq     int64     `json:"seq"`
	At      time.Time `json:"at"`
	DoorID  string    `json:"doorId"`
	Action  string    `json:"action"` // pulse hold lock off refuse deny
	PulseMs int64     `json:"pulseMs,omitempty"`
}

// Did is what a command did to its door's relay, from the journal's latest lines: empty if nothing moved, nil if the
// door's board isn't simulated here or is detached.
func (f *Fleet) Did(doorID, commandID string) []Move {
	b := f.byDoor[doorID]
	if b == nil || b.detached.Load() {
		return nil
	}
	b.mu.Lock()
	kept := slices.Clone(b.entries)
	b.mu.Unlock()
	out := []Move{}
	for _, e := range kept {
		if commandID != "" && e.CommandID == commandID {
			out = append(out, Move{Seq: e.Seq, At: msTime(e.At), DoorID: e.DoorID, Action: string(e.Action), PulseMs: e.PulseMs})
		}
	}
	return out
}
