package clocktest

import (
	"testing"
	"time"
	"unsafe"
)

// TestMachine: a step of the machine's clock changes the time it shows, but not how fast time passes.
func TestMachine(t *testing.T) {
	t.Parallel()
	if size := unsafe.Sizeof(time.Time{}); size != 24 {
		t.Fatalf("time.Time has %d bytes, want the 24 that read knows", size)
	}
	var m Machine
	for _, step := range []time.Duration{0, -56 * 365 * 24 * time.Hour, 57 * 365 * 24 * time.Hour, -time.Millisecond} {
		before, said := m.Now(), m.Now().Round(0)
		m.Set(step)
		after := m.Now()
		if passed := after.Sub(before); passed < 0 || passed > time.Hour {
			t.Errorf("step of %s: %s passed, want what passed meanwhile", step, passed)
		}
		if moved := after.Round(0).Sub(said); moved < step || moved > step+time.Hour {
			t.Errorf("step of %s: it says %s more, want the step", step, moved)
		}
		if later := after.Add(time.Second); later.Sub(after) != time.Second || later.Round(0).Sub(after.Round(0)) != time.Second {
			t.Errorf("step of %s: a second later is %s later, want a second on both clocks", step, later.Sub(after))
		}
		if ms := time.UnixMilli(after.UnixMilli()); after.Round(0).Sub(ms) >= time.Millisecond || after.Location() != time.UTC {
			t.Errorf("step of %s: %v in milliseconds is %v, want the same", step, after, ms)
		}
	}
}
