package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
)

// TestLastChangesAreJudged: a permit that never reaches a connected board is a breach even if it was a run's last
// change, because the run lets its time pass before judging. If the clock can't be moved, the result says so.
func TestLastChangesAreJudged(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]judge.Status{"virtual": judge.Fail, "real": judge.Invalid} {
		f := newFake(t)
		f.mode = mode
		at := f.now.UnixMilli()
		f.events = []history.Event{
			{Kind: history.Door, At: at, WallNs: 1, PlaceID: "plc_1", BoardID: "brd_1", DoorID: "dor_1", Channel: 1},
			{Kind: history.Online, At: at, WallNs: 2, PlaceID: "plc_1", BoardID: "brd_1", Epoch: 1},
			{Kind: history.Committed, At: at + 1, WallNs: 3, PlaceID: "plc_1", Revision: 7, Op: "register"},
		}
		res, out := play(t, f, `steps: [{call: {path: /echo}}]`, Options{})
		if res.Status != want {
			t.Errorf("%s clock: got %s, want %s\n%s", mode, res.Status, want, out)
		}
		if told := strings.Contains(strings.Join(res.Notes, "\n"), "were not judged"); told != (mode == "real") {
			t.Errorf("%s clock: got notes %q, want one that something was not judged: %t", mode, res.Notes, mode == "real")
		}
		if jump := f.now.UnixMilli() - at; mode == "virtual" && jump < 301*time.Second.Milliseconds() {
			t.Errorf("the run ended %d ms after its last change, want 301 s or more", jump)
		}
	}
}

// TestGivenUpMessages: a file is INVALID if a jump gave up messages during it.
func TestGivenUpMessages(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.loses = 3
	res, out := play(t, f, `steps: [{call: {path: /echo}}, {clock: {advance: 1s}}]`, Options{})
	if got := res.Files[0]; got.Status != judge.Invalid || !strings.Contains(got.Reason, "gave up on 3 messages") {
		t.Errorf("got %s %q, want INVALID and the 3 messages\n%s", got.Status, got.Reason, out)
	}
}

// TestGivenUpByNewProcess: a process that is started again counts from 0. That is no loss, and what it loses is one.
func TestGivenUpByNewProcess(t *testing.T) {
	t.Parallel()
	for loses, want := range map[int]judge.Status{0: judge.Pass, 2: judge.Invalid} {
		f := newFake(t)
		f.lost, f.loses = 5, loses
		res, out := play(t, f, `steps: [{control: {method: POST, path: /restart}}, {clock: {advance: 1s}}, {call: {path: /echo}, expect: data.n == 3}]`, Options{})
		if got := res.Files[0]; got.Status != want || (want == judge.Invalid) != strings.Contains(got.Reason, "gave up on 2 messages") {
			t.Errorf("it loses %d: got %s %q, want %s\n%s", loses, got.Status, got.Reason, want, out)
		}
	}
}
