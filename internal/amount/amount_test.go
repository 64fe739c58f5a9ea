package amount

import (
	"testing"
	"time"
)

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

func TestParseDuration(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"36h": 36 * time.Hour, "2d": 48 * time.Hour, "1d12h30m": 36*time.Hour + 30*time.Minute, "0d": 0, "-1s": -time.Second, "3650d": 87600 * time.Hour,
	} {
		if got, err := ParseDuration(text); err != nil || got != want || TooLong(text) {
			t.Errorf("%q: got %s, %v, too long %v; want %s", text, got, err, TooLong(text), want)
		}
	}
	for text, long := range map[string]bool{"": false, "d": false, "2 d": false, "2d3": false, "1d-5h": false, "2h1d": false, "9999999h": true, "200000d": true, "99999999999999999999d": true} {
		if got, err := ParseDuration(text); err == nil || TooLong(text) != long {
			t.Errorf("%q: got %s, %v, too long %v; want an error, and too long %v", text, got, err, TooLong(text), long)
		}
	}
}

// TestParseShare: a part is a number or a percentage.
func TestParseShare(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{"0.1": 0.1, "10%": 0.1, " 10 % ": 0.1, "-1": -1, "1e2%": 1} {
		if got, err := ParseShare(text); err != nil || got != want {
			t.Errorf("%q: got %g, %v; want %g", text, got, err, want)
		}
	}
	for _, text := range []string{"", "%", "x", "1%%", "1e999"} {
		if got, err := ParseShare(text); err == nil {
			t.Errorf("%q: got %g, want an error", text, got)
		}
	}
}
