package boardsim

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/doorlab/doorlab/boardsim/firmware"
	"github.com/doorlab/doorlab/internal/faults"
)

// counts are what the boards did since the fleet started.
type counts struct {
	lines   map[firmware.Action]*atomic.Int64 // of the journals, by action
	reports atomic.Int64
	twice   atomic.Int64 // relays moved by a command that had moved them before
}

func newCounts() *counts {
	c := &counts{lines: map[firmware.Action]*atomic.Int64{}}
	for _, action := range firmware.Actions {
		c.lines[action] = &atomic.Int64{}
	}
	return c
}

func (c *counts) line(action firmware.Action) {
	if n := c.lines[action]; n != nil {
		n.Add(1)
	}
}

// fleetMetrics reads the fleet when the page is requested, so nothing is counted twice.
type fleetMetrics struct {
	f                                                     *Fleet
	boards, online, buffered                              *prometheus.Desc
	faulty, hits, lines, twice, reports, dropped, journal *prometheus.Desc
}

// Metrics are the fleet's own, for a page that may include others. Labels come from closed lists: phases, fault names,
// actions.
func (f *Fleet) Metrics() prometheus.Gatherer {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("doorlab_fleet_"+name, help, labels, nil)
	}
	r := prometheus.NewRegistry()
	r.MustRegister(&fleetMetrics{f: f,
		boards:   desc("boards", "Simulated boards by phase: online, grace (offline, channels unchanged), outage (resting behaviour due), stopped (36 h over, or detached).", "phase"),
		online:   desc("boards_online", "Simulated boards that the server has answered on their current connection."),
		buffered: desc("buffered_records", "On-site records waiting on the boards for the server."),
		dropped:  desc("dropped_records", "On-site records that boards lost because their buffer was full."),
		faulty:   desc("faulty_boards", "Boards on which a fault is armed, by fault.", "fault"),
		hits:     desc("fault_hits_total", "How often a fault acted, by fault.", "fault"),
		lines:    desc("journal_lines_total", "Ground truth: lines of the boards' journals by action.", "action"),
		twice:    desc("double_actuations_total", "Ground truth: relays moved by a command that had already moved one, among the board's last 256."),
		journal:  desc("journal_bytes", "Size of the journal on disk."),
		reports:  desc("reports_total", "Command reports that boards had to send, before any faults acted on them."),
	})
	return r
}

// Describe implements prometheus.Collector.
func (m *fleetMetrics) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{m.boards, m.online, m.buffered, m.dropped, m.faulty, m.hits, m.lines, m.twice, m.journal, m.reports} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (m *fleetMetrics) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, n int64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(n), labels...)
	}
	counter := func(d *prometheus.Desc, n int64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	phases := map[string]int64{firmware.PhaseOnline: 0, firmware.PhaseGrace: 0, firmware.PhaseOutage: 0, firmware.PhaseStopped: 0}
	var buffered, dropped int64
	for _, b := range m.f.boards {
		phase, waiting, lost := b.census()
		phases[phase]++
		buffered += waiting
		dropped += lost
	}
	for phase, n := range phases {
		gauge(m.boards, n, phase)
	}
	gauge(m.online, m.f.online.Load())
	gauge(m.buffered, buffered)
	gauge(m.dropped, dropped)
	armed, hits := map[string]int64{}, m.f.faults.Hits()
	for _, a := range m.f.faults.List() {
		armed[a.Fault] += int64(a.Count)
	}
	for _, name := range faults.Names() {
		gauge(m.faulty, armed[name], name)
		counter(m.hits, hits[name], name)
	}
	for action, n := range m.f.count.lines {
		counter(m.lines, n.Load(), string(action))
	}
	counter(m.twice, m.f.count.twice.Load())
	gauge(m.journal, m.f.journal.bytes())
	counter(m.reports, m.f.count.reports.Load())
}

// census is a board's contribution to the metrics.
func (b *board) census() (phase string, buffered, dropped int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	phase = b.s.Phase(b.f.nowMs() + b.shift)
	if b.detached.Load() {
		phase = firmware.PhaseStopped // as on the control API
	}
	return phase, int64(len(b.s.Records)), int64(b.s.Dropped)
}
