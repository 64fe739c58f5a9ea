package loadtest

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/doorlab/doorlab/internal/vocab"
)

// Metrics are what a load counts while it runs. The labels come from closed lists.
type Metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	lag      prometheus.Histogram
	replayed prometheus.Counter
	unsent   prometheus.Counter
	planned  prometheus.Gauge
}

// NewMetrics are metrics of one load.
func NewMetrics() *Metrics {
	buckets := prometheus.ExponentialBucketsRange(0.0005, 10, 16)
	m := &Metrics{registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "doorlab_load_requests_total",
			Help: "Finished requests of the load, by outcome; error: no answer."}, []string{"outcome"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "doorlab_load_request_seconds",
			Help: "Duration of the load's requests, measured from the planned moment and from the moment when they were sent.", Buckets: buckets}, []string{"from"}),
		lag: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "doorlab_load_lag_seconds",
			Help: "How much later than planned requests were sent: if this grows, the generator is the limit.", Buckets: buckets}),
		replayed: prometheus.NewCounter(prometheus.CounterOpts{Name: "doorlab_load_replayed_total", Help: "Answers that repeated a stored result."}),
		unsent: prometheus.NewCounter(prometheus.CounterOpts{Name: "doorlab_load_unsent_total",
			Help: "Requests that this machine couldn't send, for want of ports, descriptors or token exchanges."}),
		planned: prometheus.NewGauge(prometheus.GaugeOpts{Name: "doorlab_load_planned_rate", Help: "Requests per second that the plan asks for now; 0 while it asks for none."}),
	}
	for _, name := range outcomes { // a series that is absent can't be alerted on
		m.requests.WithLabelValues(string(name))
	}
	m.registry.MustRegister(m.requests, m.seconds, m.lag, m.replayed, m.unsent, m.planned)
	return m
}

// Gatherer shows them.
func (m *Metrics) Gatherer() prometheus.Gatherer { return m.registry }

// answered counts a finished request.
func (m *Metrics) answered(outcome vocab.Outcome, took, since, lag time.Duration) {
	m.requests.WithLabelValues(string(outcome)).Inc()
	m.seconds.WithLabelValues("sent").Observe(took.Seconds())
	m.seconds.WithLabelValues("planned").Observe(since.Seconds())
	m.lag.Observe(lag.Seconds())
}
