package server

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/doorlab/doorlab/server/api"
	"github.com/doorlab/doorlab/server/boardsync"
	"github.com/doorlab/doorlab/server/device"
	"github.com/doorlab/doorlab/server/gateway"
)

// metrics are Prometheus metrics. Labels are route templates, outcomes and
// phases, never an id, a phone or a token.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
	phases   *prometheus.HistogramVec
	commands *prometheus.CounterVec
	sync     *prometheus.HistogramVec
}

func newMetrics() *metrics {
	buckets := prometheus.ExponentialBucketsRange(0.0005, 10, 16)
	hist := func(name, help string, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets,
			NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 160, NativeHistogramMinResetDuration: time.Hour}, labels)
	}
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: hist("doorlab_http_request_seconds", "Duration of API requests by route template and status.", "route", "method", "status"),
		phases:   hist("doorlab_command_phase_seconds", "Duration of the phases of door commands: committed, published, reported, settled.", "phase"),
		commands: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "doorlab_commands_total", Help: "Door commands by outcome."}, []string{"outcome"}),
	}
	m.sync = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "doorlab_sync_seconds",
		Help:    "Domain time until a change was applied on a board, since its commit or since the board's hello when that was later.",
		Buckets: prometheus.ExponentialBucketsRange(0.05, 600, 16)}, []string{"since"})
	m.registry.MustRegister(m.requests, m.phases, m.commands, m.sync, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// watch shows what gateway and synchronization count, read when the page is.
func (m *metrics) watch(g *gateway.Gateway, s *boardsync.Service) {
	count := s.Counts()
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "doorlab_boards_online", Help: "Boards that have said hello on their connection."},
		func() float64 { return float64(g.Snapshot().Online) }))
	for kind, n := range map[string]*atomic.Int64{"delta": &count.Deltas, "snapshot": &count.Snapshots, "resend": &count.Resends, "repair": &count.Repairs} {
		m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "doorlab_sync_sent_total",
			Help: "Changes sent to boards; resends and repairs are among the deltas and snapshots.", ConstLabels: prometheus.Labels{"kind": kind}},
			func() float64 { return float64(n.Load()) }))
	}
}

func (m *metrics) request(o api.Observation) {
	m.requests.WithLabelValues(o.Route, o.Method, strconv.Itoa(o.Status)).Observe(o.Elapsed.Seconds())
}

// command splits a command's time: each phase is the time since the one before.
func (m *metrics) command(p device.Phases) {
	m.commands.WithLabelValues(p.Outcome).Inc()
	last := p.Accepted
	for _, s := range []struct {
		name string
		at   time.Duration
	}{{"committed", p.Committed}, {"published", p.Published}, {"reported", p.Reported}, {"settled", p.Settled}} {
		if s.at == 0 || last == 0 {
			continue
		}
		m.phases.WithLabelValues(s.name).Observe((s.at - last).Seconds())
		last = s.at
	}
}

// synced observes an applied change [SYNC-1] [SYNC-2].
func (m *metrics) synced(sinceHello bool, took time.Duration) {
	since := "commit"
	if sinceHello {
		since = "hello"
	}
	m.sync.WithLabelValues(since).Observe(took.Seconds())
}
