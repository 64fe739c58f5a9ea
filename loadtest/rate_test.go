package loadtest

import (
	"strings"
	"testing"
	"testing/synctest"
)

// TestPlannedRate: the planned rate is the plan's own, also of a run that is too short for one request at that rate.
func TestPlannedRate(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		rate  float64
		words string
	}{
		"rate: 10/h\nduration: 1s":                    {0.002778, "(0.0028/s as planned)"},
		"rate: 0.5/s\nduration: 1s":                   {0.5, "(0.5/s as planned)"},
		"rate: 20\nduration: 2s":                      {20, "(20/s as planned)"},
		"pacer: ramp\nrate: 10\nto: 20\nduration: 2s": {15, "(15/s as planned)"},
		"pacer: stages\nstages: [{rate: 10, duration: 1s}, {rate: 0, duration: 1s}]":                  {5, "(5/s as planned)"},
		"pacer: sine\nrate: 100\namplitude: 50\nperiod: 4s\nduration: 8s\nthresholds: {max_all: 10s}": {100, "(100/s as planned)"},
	} {
		synctest.Test(t, func(t *testing.T) {
			target, o := bubble(newFake())
			res, err := Run(t.Context(), target, mustParse(t, text), o)
			if err != nil || res.PlannedRate != want.rate || res.Verdict != Pass {
				t.Errorf("%s: planned %g/s, %s, %v; want PASS and %g", text, res.PlannedRate, res.Verdict, err, want.rate)
			}
			if !strings.Contains(res.Text(), want.words) {
				t.Errorf("%s: it doesn't say %q:\n%s", text, want.words, res.Text())
			}
		})
	}
}
