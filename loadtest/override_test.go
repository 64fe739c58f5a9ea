package loadtest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/doorlab/doorlab/internal/must"
)

func TestAtAnotherRate(t *testing.T) {
	t.Parallel()
	const minute = Duration(time.Minute)
	for _, tt := range []struct {
		plan     string
		rate     Rate
		duration Duration
		change   func(*Plan)
		err      string
	}{
		{"door-commands", 0, 0, func(*Plan) {}, ""},
		{"door-commands", 600, minute, func(p *Plan) { p.Rate, p.Duration, p.Thresholds["rate_min"] = 600, minute, "580/s" }, ""},
		{"hot-door", 15, 0, func(p *Plan) { p.Rate = 15 }, ""},
		{"soak", 50, 0, func(p *Plan) { p.Rate, p.Amplitude = 50, 30 }, ""},
		{"search", 0, minute, func(p *Plan) { p.Duration = minute }, ""},
		{"search", 100, 0, nil, "the plan search doesn't have one rate (pacer: search), as constant and sine have"},
		{"ramp", 100, 0, nil, "the plan ramp doesn't have one rate (pacer: stages), as constant and sine have"},
		{"ramp", 0, minute, nil, "ramp has stages, each with a duration of its own"},
	} {
		plan := must.Get(Load(tt.plan))(t)
		got, err := plan.At(tt.rate, tt.duration)
		if tt.change == nil {
			if err == nil || err.Error() != tt.err {
				t.Errorf("%s at %v for %v: error %v, want %q", tt.plan, tt.rate, tt.duration, err, tt.err)
			}
			continue
		}
		want := must.Get(Load(tt.plan))(t)
		if diff := cmp.Diff(want, plan); diff != "" {
			t.Errorf("%s at %v for %v: the plan itself has changed\n%s", tt.plan, tt.rate, tt.duration, diff)
		}
		tt.change(&want)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s at %v for %v: %v, -want +got\n%s", tt.plan, tt.rate, tt.duration, err, diff)
		}
	}
}
