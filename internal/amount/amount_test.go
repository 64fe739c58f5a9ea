package amount

import "testing"

func TestNumber(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{0: "0", 999: "999", 1000: "1,000", 1234567.891: "1,234,567.89", -1234: "-1,234", .5: "0.5"} {
		if got := Number(v); got != want {
			t.Errorf("Number(%v): got %q, want %q", v, got, want)
		}
	}
	for n, want := range map[int]string{0: "0 boards", 1: "1 board", 1000: "1,000 boards"} {
		if got := Many(n, "board"); got != want {
			t.Errorf("Many(%d): got %q, want %q", n, got, want)
		}
	}
}

func TestDuration(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{0: "0", .0005: "0.5 ms", .2: "200 ms", 12.3: "12.3 s", 60: "1 m", 61: "1 m 1 s", 3600: "1 h", 133200: "37 h", 5400: "1 h 30 m"} {
		if got := Duration(v); got != want {
			t.Errorf("Duration(%v): got %q, want %q", v, got, want)
		}
	}
}
