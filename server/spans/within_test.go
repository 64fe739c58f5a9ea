package spans

import (
	"testing"
	"time"
)

// TestWithin: whatever the clocks say, a relay moves between a command's publication and its report.
func TestWithin(t *testing.T) {
	t.Parallel()
	at := func(ms int) time.Time { return time.UnixMilli(int64(ms)) }
	for in, want := range map[int]int{0: 10, 10: 10, 15: 15, 20: 20, 30: 20} {
		if got := within(at(10), at(in), at(20)); !got.Equal(at(want)) {
			t.Errorf("%d ms between 10 and 20: got %d, want %d", in, got.UnixMilli(), want)
		}
	}
}
