package board

import (
	"maps"
	"testing"
	"time"

	"github.com/doorlab/doorlab/server/fail"
)

var (
	noon  = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	doors = []Door{{DoorID: "dor_1", Channel: 1}, {DoorID: "dor_2", Channel: 2}}
)

func TestStatus(t *testing.T) {
	t.Parallel()
	met := State{BoardID: "brd_1", FirstSeenAt: noon, Since: noon}
	later := noon.Add(time.Minute)
	for name, tc := range map[string]struct {
		state State
		conn  Connection
		want  string
		since time.Time
		epoch int64
	}{
		"never said hello":          {State{BoardID: "brd_1"}, Connection{LastSeenAt: later}, Unknown, time.Time{}, 0},
		"live":                      {met, Connection{Epoch: 7, LastSeenAt: later}, Online, noon, 7},
		"gone":                      {met, Connection{LastSeenAt: later}, Offline, noon, 0},
		"ended but not yet noticed": {met, Connection{EndedAt: later, LastSeenAt: noon}, Offline, later, 0},
	} {
		got := tc.state.Status(tc.conn)
		if got.State != tc.want || !got.Since.Equal(tc.since) || got.Epoch != tc.epoch {
			t.Errorf("%s: %s since %v, epoch %d, want %s since %v, epoch %d", name, got.State, got.Since, got.Epoch, tc.want, tc.since, tc.epoch)
		}
		if tc.want == Unknown && !got.LastSeenAt.IsZero() {
			t.Errorf("%s: last seen at %v, want never", name, got.LastSeenAt)
		}
	}
}

func TestStandTakesOwnChannelsOnly(t *testing.T) {
	t.Parallel()
	s := State{Doors: doors, Standings: map[int]Reported{1: {Standing: Standing{Channel: 1, State: "locked"}, ReportedAt: 1}}}
	shared := s.Standings
	s.Stand([]Standing{{Channel: 2, State: "open", DoorID: "dor_x"}, {Channel: 9, State: "open"}}, Origin{By: ByState, Turn: 1}, time.UnixMilli(2))
	if len(s.Standings) != 2 || s.Standings[2].DoorID != "dor_2" || s.Standings[1].State != "locked" || s.Standings[1].ReportedAt != 1 || s.Standings[2].ReportedAt != 2 {
		t.Errorf("standings %+v, want channels 1 and 2, the latter of dor_2", s.Standings)
	}
	if len(shared) != 1 {
		t.Errorf("a shared map was changed: %+v, want one entry", shared)
	}
}

func TestCheckPolicy(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		p  Policy
		ok bool
	}{
		"empty":          {Policy{}, true},
		"longest grace":  {Policy{GraceSec: 604800, Channels: map[int]string{1: "open", 2: "close", 3: "hold", 4: "off"}}, true},
		"negative grace": {Policy{GraceSec: -1}, false},
		"over a week":    {Policy{GraceSec: 604801}, false},
		"version":        {Policy{Version: -1}, false},
		"last version":   {Policy{Version: 1<<53 - 1}, true},
		"beyond":         {Policy{Version: 1 << 53}, false},
		"rest":           {Policy{Channels: map[int]string{1: "ajar"}}, false},
	} {
		if err := CheckPolicy(tc.p); (err == nil) != tc.ok {
			t.Errorf("%s: %v, want accepted = %t", name, err, tc.ok)
		}
	}
}

func TestMergeLaysOverTheConfirmed(t *testing.T) {
	t.Parallel()
	s := State{Doors: doors, Policy: &Policy{GraceSec: 9, Version: 4, Channels: map[int]string{1: "close", 2: "hold"}}}
	got := s.Merge(Policy{GraceSec: 60, Channels: map[int]string{1: "open"}})
	if got.GraceSec != 60 || got.Version != 5 || !maps.Equal(got.Channels, map[int]string{1: "open", 2: "hold"}) {
		t.Errorf("%+v, want version 5 with 60 s, channel 1 open and 2 as confirmed", got)
	}
	if s.Policy.Channels[1] != "close" || s.Policy.Version != 4 {
		t.Error("the confirmed policy was changed")
	}
	if got := s.Merge(Policy{GraceSec: 9, Channels: map[int]string{2: "hold"}}); got.Version != 4 || !maps.Equal(got.Channels, s.Policy.Channels) {
		t.Errorf("a repeat: %+v, want the confirmed %+v", got, *s.Policy)
	}
	last := State{Doors: doors, Policy: &Policy{GraceSec: 9, Version: 1<<53 - 1}}
	if got := last.Merge(Policy{GraceSec: 60}); CheckPolicy(got) != nil || got.Version == last.Policy.Version {
		t.Errorf("after the last version there is: %+v, want one that the board may confirm, and another version", got)
	}
	if got := (State{Doors: doors}).Merge(DefaultPolicy(doors)); got.Version != 1 {
		t.Errorf("the default for a board that was never configured: %+v, want version 1", got)
	}
	if got := (State{Doors: doors}).Merge(Policy{GraceSec: 60}); got.Version != 1 || !maps.Equal(got.Channels, map[int]string{1: "close", 2: "close"}) {
		t.Errorf("never configured: %+v, want version 1 with every channel closed", got)
	}
}

func TestNamedChannelsAreTheBoards(t *testing.T) {
	t.Parallel()
	if got, err := Named([]int{1, 2}, map[string]string{"2": "open"}); err != nil || !maps.Equal(got, map[int]string{2: "open"}) {
		t.Errorf("got %v, %v, want channel 2 open", got, err)
	}
	for _, name := range []string{"3", "01", "+1", "x", ""} {
		if got, err := Named([]int{1, 2}, map[string]string{name: "open"}); fail.CodeOf(err) != fail.InvalidField || got != nil {
			t.Errorf("channel %q: %v, %v, want %s", name, got, err, fail.InvalidField)
		}
	}
}

func TestConfirm(t *testing.T) {
	t.Parallel()
	s := State{Doors: doors}
	if p := s.Confirmed(); p.GraceSec != 129600 || p.Version != 0 || !maps.Equal(p.Channels, map[int]string{1: "close", 2: "close"}) {
		t.Errorf("default %+v, want 36 h and every channel closed", p)
	}
	s.Confirm(Policy{GraceSec: 5, Version: 1, Channels: map[int]string{1: "hold", 7: "off"}}, noon)
	if p := s.Confirmed(); p.GraceSec != 5 || !maps.Equal(p.Channels, map[int]string{1: "hold", 2: "close"}) || !s.PolicyAppliedAt.Equal(noon) {
		t.Errorf("%+v at %v, want own channels only, the unnamed one by default", p, s.PolicyAppliedAt)
	}
	s.Confirm(Policy{GraceSec: 5, Version: 1, Channels: map[int]string{1: "hold"}}, noon.Add(time.Hour))
	if !s.PolicyAppliedAt.Equal(noon) {
		t.Errorf("applied at %v after the same again, want %v", s.PolicyAppliedAt, noon)
	}
	s.Confirm(Policy{}, noon)
	if s.Policy != nil || !s.PolicyAppliedAt.IsZero() {
		t.Errorf("%+v after version 0, want never configured", s.Policy)
	}
}
