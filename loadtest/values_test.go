package loadtest

import (
	"encoding/json"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
)

// TestRateIsWrittenExactly: a merge reads the same rate that the shards sent at, however many decimals it has; and a limit that
// moves with the rate isn't above it.
func TestRateIsWrittenExactly(t *testing.T) {
	t.Parallel()
	p := mustParse(t, "rate: 100/m\nduration: 10m\nthresholds: {rate_min: 100/m}")
	var read Plan
	must.OK(t, json.Unmarshal(must.Get(json.Marshal(p))(t), &read))
	if sent, merged := newSchedule(p).total, newSchedule(read).total; read.Rate != p.Rate || sent != 1000 || merged != sent {
		t.Errorf("got %v and %d requests, read again %v and %d; want 1,000 and the same", p.Rate, sent, read.Rate, merged)
	}
	other := must.Get(p.At(Rate(70.0/60), 0))(t)
	if l := must.Get(parseThreshold("rate_min", other.Thresholds["rate_min"]))(t); l.value > 70.0/60+1e-12 {
		t.Errorf("rate_min is %v/s at 70 per minute", l.value)
	}
}
