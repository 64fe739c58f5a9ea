package console

import (
	"fmt"
	"testing"
	"time"
)

func TestMarks(t *testing.T) {
	t.Parallel()
	var m marks
	cut := time.Date(2026, 10, 5, 1, 0, 0, 500e6, time.UTC)
	for name, ok := range map[string]bool{"cut": true, "배송_2": true, "": false, "2nd": false, "cut+1h": false, "two words": false} {
		if err := m.set(name, cut); (err == nil) != ok {
			t.Errorf("naming a moment %q: %v, want it taken: %v", name, err, ok)
		}
	}
	for text, want := range map[string]time.Time{
		"cut": cut, " cut+36h ": cut.Add(36 * time.Hour), "cut-1ms": cut.Add(-time.Millisecond), "cut+2d": cut.Add(48 * time.Hour), "cut-1d12h": cut.Add(-36 * time.Hour), "배송_2+1h30m": cut.Add(90 * time.Minute),
		"2026-12-01 09:00": time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC), "2026-12-01": time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC),
		"2026-12-01T09:00:00+09:00": time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC),
		"":                          {}, "other": {}, "cut+": {}, "cut+2 days": {}, "cut+-1h": {}, "+36h": {},
	} {
		got, err := m.moment(text)
		if !got.Equal(want) || (err == nil) != !want.IsZero() {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
	}
	for i := range maxMarks {
		_ = m.set(fmt.Sprint("m", i), cut)
	}
	if _, err := m.moment("cut"); err == nil || len(m.names()) != maxMarks || m.names()[0] != "m19" {
		t.Errorf("%q, %v: want the latest %d, and the oldest gone", m.names(), err, maxMarks)
	}
}
