package loadtest

import (
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/must"
)

// TestLimitsThatNothingBreaks: a limit that no answers to 100 requests could break proves nothing, and neither does
// one on the generator.
func TestLimitsThatNothingBreaks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		want       bool
	}{
		{"p99_all", "500ms", false}, {"p99_all", "20s", true}, {"max_reported", "1h", true}, {"service_p50_all", "19s", false},
		{"lag_p99", "10ms", true}, {"errors", "0", false}, {"errors", "100", true}, {"errors", "100%", true},
		{"p99_all", "3s", false},
		{"noResponse_max", "1000", true}, {"reported_min", "0", true}, {"reported_min", "1", false}, {"rate_min", "5/s", false},
	} {
		l := must.Get(parseThreshold(c.name, c.text))(t)
		if got := l.idle(100, answerWait); got != c.want {
			t.Errorf("%s: %s can't be broken: got %v, want %v", c.name, c.text, got, c.want)
		}
	}
	l, err := parseThreshold("p99_all", "3s")
	if err != nil || !l.idle(100, 2*time.Second) {
		t.Errorf("a limit of 3 s can be broken by requests that wait for 2 s, %v, want that it can't", err)
	}
}
