package clock

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestTheMachinesClockIsReadOnce: what measures transport and what stamps events has a monotonic reading, so that it goes on
// when the machine's clock is set. Stamps and transport agree on how much time has passed.
func TestTheMachinesClockIsReadOnce(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]time.Time{"start": start, "WallNow": WallNow()} {
		if at == at.Round(0) { // Round drops the reading
			t.Errorf("%s has no monotonic reading, want one", name)
		}
	}
	if off := time.Since(WallNow().Round(0)); off.Abs() > time.Hour {
		t.Errorf("WallNow is %s off, want the machine's time", off)
	}
	from, began := WallNow(), Mono()
	took := Mono() - began
	if got := WallNow().Round(0).Sub(from.Round(0)); got < took || got > took+time.Minute {
		t.Errorf("%s passed by WallNow, want the %s that passed by Mono", got, took)
	}
}

// TestWallNowInABubble: in a synctest bubble it is the bubble's time.
func TestWallNowInABubble(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for range 2 {
			if got, want := WallNow(), time.Now(); !got.Equal(want) || time.Until(got) != 0 {
				t.Errorf("got %s, want %s", got, want)
			}
			time.Sleep(time.Hour)
		}
	})
}
