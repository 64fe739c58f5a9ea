package engine

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/doorlab/doorlab/internal/judge"
)

// Metrics are what a check counts while it runs. The labels come from closed lists.
type Metrics struct {
	registry   *prometheus.Registry
	planned    prometheus.Gauge
	running    prometheus.Gauge
	scenarios  *prometheus.CounterVec
	steps      *prometheus.CounterVec
	guarantees *prometheus.GaugeVec
}

// verdicts on a scenario, a step or a guarantee.
var verdicts = []judge.Status{judge.Pass, judge.Fail, judge.Blocked, judge.Skipped, judge.Invalid}

// NewMetrics are metrics of one check.
func NewMetrics() *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(),
		planned: prometheus.NewGauge(prometheus.GaugeOpts{Name: "doorlab_check_scenarios", Help: "Scenarios in the run."}),
		running: prometheus.NewGauge(prometheus.GaugeOpts{Name: "doorlab_check_scenarios_running", Help: "Scenarios in progress."}),
		scenarios: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "doorlab_check_scenarios_total", Help: "Finished scenarios, by status; the judgement at the end may still change one."},
			[]string{"status"}),
		steps: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "doorlab_check_steps_total", Help: "Steps of finished scenarios, by status; a group, a table and a retry count once."}, []string{"status"}),
		guarantees: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "doorlab_check_guarantee", Help: "1 for the verdict on each guarantee, once the run is judged."},
			[]string{"clause", "status"}),
	}
	for _, s := range verdicts { // a series that is absent can't be alerted on
		m.scenarios.WithLabelValues(string(s))
		m.steps.WithLabelValues(string(s))
	}
	m.registry.MustRegister(m.planned, m.running, m.scenarios, m.steps, m.guarantees)
	return m
}

// Gatherer shows them.
func (m *Metrics) Gatherer() prometheus.Gatherer { return m.registry }

func (m *Metrics) ended(status judge.Status) {
	m.running.Dec()
	m.scenarios.WithLabelValues(string(status)).Inc()
}

// judged shows the verdicts.
func (m *Metrics) judged(res Result) {
	for _, row := range res.Ledger {
		for _, s := range verdicts {
			value := 0.0
			if row.Status == s {
				value = 1
			}
			m.guarantees.WithLabelValues(row.Clause, string(s)).Set(value)
		}
	}
}
