package loadtest

import "testing"

// TestFigures: reports write times in three digits and rates and counts with separators, and never a value that looks like the
// limit that it breaks.
func TestFigures(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{0: "0 ms", 0.4321: "0.43 ms", 9.996: "10 ms", 79.04: "79 ms", 72.06: "72.1 ms", 843.4: "843 ms", 999.6: "1 s", 2845: "2.85 s",
		12345: "12.3 s", 1_234_567: "1,235 s"} {
		if got := ms(v); got != want {
			t.Errorf("%g ms: got %q, want %q", v, got, want)
		}
	}
	for v, want := range map[float64]string{0: "0/s", 1.0 / 36: "0.0278/s", 99.95: "100/s", 1699.73: "1,699.7/s"} {
		if got := perSecond(v); got != want {
			t.Errorf("%g per second: got %q, want %q", v, got, want)
		}
	}
	for name, limit := range map[string][2]string{"p99_all": {"500ms", "500 ms"}, "spike: p99_all": {"1s", "1 s"}, "errors": {"1000", "1,000"},
		"rate_min": {"290/s", "290/s"}, "of another version": {"1%", "1%"}} {
		th := Threshold{Name: name, Limit: limit[0]}
		if got := th.Bound(); got != limit[1] {
			t.Errorf("limit of %s: got %q, want %q", name, got, limit[1])
		}
	}
	for want, of := range map[string]struct {
		name, limit string
		value       float64
	}{"500.351 ms": {"p99_all", "500ms", 500.351}, "289.99/s": {"rate_min", "290/s", 289.99}, "1.00005%": {"errors", "1%", 0.0100005}, "501 ms": {"p99_all", "500ms", 501}} {
		l, err := parseThreshold(of.name, of.limit)
		if got := l.broken(of.value); err != nil || got != want {
			t.Errorf("%g above %s: got %q, %v, want %q", of.value, of.limit, got, err, want)
		}
	}
}
