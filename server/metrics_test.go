package server

import (
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/server/command"
)

// The wait for a board that doesn't report is no phase of a command: it would be shown as what storing the outcome took.
func TestTheWaitForAReportIsNoPhase(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		trail command.Trail
		want  map[string]float64 // seconds
	}{
		"reported": {command.Trail{Accepted: ms, Decided: 2 * ms, Committed: 4 * ms, Published: 5 * ms, Reported: 25 * ms, Settled: 28 * ms},
			map[string]float64{"decided": 0.001, "committed": 0.002, "published": 0.001, "reported": 0.02, "settled": 0.003}},
		"no report": {command.Trail{Accepted: ms, Decided: 2 * ms, Committed: 4 * ms, Published: 5 * ms, Settled: 8005 * ms},
			map[string]float64{"decided": 0.001, "committed": 0.002, "published": 0.001}},
		"not sent": {command.Trail{Accepted: ms, Decided: 2 * ms, Committed: 4 * ms, Settled: 7 * ms},
			map[string]float64{"decided": 0.001, "committed": 0.002, "settled": 0.003}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMetrics()
			m.command(&c.trail)
			for _, f := range must.Get(m.registry.Gather())(t) {
				if f.GetName() != "doorlab_command_phase_seconds" {
					continue
				}
				for _, x := range f.GetMetric() {
					phase, h := x.GetLabel()[0].GetValue(), x.GetHistogram()
					want, ok := c.want[phase]
					if got := h.GetSampleSum(); ok != (h.GetSampleCount() == 1) || got < want-1e-9 || got > want+1e-9 {
						t.Errorf("%s: observed %d times, %g s in all, want %g s", phase, h.GetSampleCount(), got, want)
					}
				}
			}
		})
	}
}
