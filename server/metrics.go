package server

import (
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/server/api"
	"github.com/doorlab/doorlab/server/boardsync"
	"github.com/doorlab/doorlab/server/command"
	"github.com/doorlab/doorlab/server/gateway"
	"github.com/doorlab/doorlab/server/sip"
	"github.com/doorlab/doorlab/server/store"
)

// metrics are the server's Prometheus metrics. Label values are route templates, methods, outcomes and phases, each
// from a closed list; never an id, a phone or a token.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
	phases   [len(phases)]prometheus.Observer
	sync     *prometheus.HistogramVec
	commits  prometheus.Histogram
	writes   prometheus.Histogram
}

// phases of a command, in order.
var phases = [...]string{"decided", "committed", "published", "reported", "settled"}

func newMetrics() *metrics {
	hist := func(name, help string, low, high float64, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: prometheus.ExponentialBucketsRange(low, high, 16),
			NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 160, NativeHistogramMinResetDuration: time.Hour}, labels)
	}
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: hist("doorlab_http_request_seconds", "Duration of API requests by route template, method and status; a path without a route is \"other\".",
			0.0005, 10, "route", "method", "status"),
		sync: hist("doorlab_sync_seconds", "How long it took until a board applied a change, in the lab's time, since the commit or, if that was later, since the board's hello.",
			0.05, 600, "since"),
		commits: hist("doorlab_store_commit_seconds", "Duration of database commits.", 0.0001, 10).WithLabelValues().(prometheus.Histogram),
		writes: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "doorlab_store_commit_writes", Help: "Writes that shared a commit.",
			Buckets: prometheus.ExponentialBuckets(1, 2, 10)}),
	}
	phased := hist("doorlab_command_phase_seconds", "Duration of the phases of door commands, each since the previous one: decided, committed, published, reported, settled. Settled is left out if a command was sent and got no report.",
		0.0005, 10, "phase")
	for i, p := range phases { // a series that is absent can't be alerted on
		m.phases[i] = phased.WithLabelValues(p)
	}
	m.sync.WithLabelValues("commit")
	m.sync.WithLabelValues("hello")
	m.registry.MustRegister(m.requests, phased, m.sync, m.commits, m.writes)
	return m
}

// counter and gauge export a number that its owner keeps; it is read when the page is requested. label and value are ""
// for a metric without labels.
func (m *metrics) counter(name, help, label, value string, read func() int64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: labels(label, value)},
		func() float64 { return float64(read()) }))
}

func (m *metrics) gauge(name, help, label, value string, read func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: labels(label, value)}, read))
}

func labels(label, value string) prometheus.Labels {
	if label == "" {
		return nil
	}
	return prometheus.Labels{label: value}
}

// family registers one counter per value of a label.
func (m *metrics) family(name, help, label string, counts map[string]func() int64) {
	for value, read := range counts {
		m.counter(name, help, label, value, read)
	}
}

// watchCommands shows what the command service counts.
func (m *metrics) watchCommands(s *command.Service) {
	n := s.Counts()
	m.gauge("doorlab_commands_running", "Door commands in progress.", "", "", func() float64 { return float64(s.InProgress()) })
	m.family("doorlab_commands_total", "Door commands by outcome; withdrawn: the claim became durable too late, nothing was sent.", "outcome", map[string]func() int64{
		string(vocab.Reported): n.Reported.Load, vocab.Offline: n.Offline.Load, vocab.Refused: n.Refused.Load,
		vocab.NoResponse: n.NoResponse.Load, string(command.Withdrawn): n.Withdrawn.Load})
	m.family("doorlab_command_calls_total", "Calls for a door command by result: started a command, joined a running one, "+
		"replayed a stored answer, refused because the key was used for another request or too many commands were running.", "result", map[string]func() int64{
		"started": n.Started.Load, "joined": n.Joined.Load, "replayed": n.Replayed.Load, "key_reused": n.Reused.Load, "too_many": n.TooMany.Load})
	m.counter("doorlab_commands_recovered_total", "Commands that a previous run left without an outcome, settled as no response at startup.", "", "", n.Recovered.Load)
	m.counter("doorlab_command_late_reports_total", "Reports that settled the record of a command after its 504.", "", "", n.LateReports.Load)
	m.family("doorlab_command_reports_dropped_total", "Reports that settled nothing: for an unknown command, for another board's or door's command, or unreadable.", "reason", map[string]func() int64{
		"unknown": n.UnknownReports.Load, "foreign": n.ForeignReports.Load, "garbage": n.GarbageReports.Load})
}

// watchBroker shows what the gateway counts.
func (m *metrics) watchBroker(g *gateway.Gateway, w *world.World) {
	n := g.Counts()
	boards := 0
	for _, p := range w.Places {
		boards += len(p.Boards)
	}
	m.gauge("doorlab_boards", "Boards in the world.", "", "", func() float64 { return float64(boards) })
	m.gauge("doorlab_boards_online", "Boards that have said hello on their connection.", "", "", func() float64 { return float64(n.Online.Load()) })
	m.gauge("doorlab_broker_connections", "Connections of known boards.", "", "", func() float64 { return float64(n.Connected.Load()) })
	m.family("doorlab_broker_connections_total", "Connections by result: accepted from a listener, then refused, replaced by a newer one of the same board, closed before CONNECT to make room for others.",
		"result", map[string]func() int64{"accepted": n.Accepted.Load, "refused": n.Refused.Load, "taken_over": n.Takeovers.Load, "crowded": n.Crowded.Load})
	m.family("doorlab_broker_errors_total", "Failures inside the broker: accepting a connection, a panic that one connection caused.", "kind", map[string]func() int64{
		"accept": n.AcceptErrors.Load, "panic": n.Panics.Load})
	m.counter("doorlab_board_messages_received_total", "Messages from boards.", "", "", n.Uplinks.Load)
	m.family("doorlab_board_messages_total", "Messages from boards that were accepted, by kind.", "kind", map[string]func() int64{
		"hello": n.Hellos.Load, "report": n.Reports.Load, "record": n.Records.Load})
	reasons := map[string]func() int64{}
	for _, why := range gateway.DropReasons {
		reasons[why] = func() int64 { return g.Dropped()[why] }
	}
	m.family("doorlab_board_messages_dropped_total", "Messages from boards that the server dropped: before hello, unreadable, on a forbidden topic, retained, "+
		"too large, a report for a command that the board doesn't have or with an invalid result, an answer to an outage policy with an invalid result, a record that can't be kept or is beyond the board's quota, and the permit in a record if the board can't have opened with it (the record is kept).", "reason", reasons)
	m.counter("doorlab_board_messages_sent_total", "Messages to boards.", "", "", n.Down.Load)
	m.counter("doorlab_board_messages_unsent_total", "Messages not delivered because the connection had closed or the board was reading too slowly.", "", "", n.DownDropped.Load)
	m.counter("doorlab_commands_unsent_total", "Door commands among the unsent messages.", "", "", n.CommandsUnsent.Load)
}

// watchSync shows what synchronization counts and how far the connected boards are behind.
func (m *metrics) watchSync(s *boardsync.Service) {
	count := s.Counts()
	for kind, n := range map[string]*atomic.Int64{"delta": &count.Deltas, "snapshot": &count.Snapshots, "resend": &count.Resends, "repair": &count.Repairs} {
		m.counter("doorlab_sync_sent_total", "Changes sent to boards; resends and repairs are among the deltas and snapshots.", "kind", kind, n.Load)
	}
	m.family("doorlab_sync_problems_total", "Synchronization problems: content that could not be read, repeated reads, acknowledgements and digests of a revision that was never sent, "+
		"delayed repeats to one board.", "kind", map[string]func() int64{"read_failed": count.ReadFailures.Load, "retried": count.Retries.Load,
		"impossible_ack": count.Impossible.Load, "delayed": count.Delayed.Load})
	m.gauge("doorlab_sync_cached_bytes", "Encoded changes kept for boards that have not acknowledged them.", "", "", func() float64 { return float64(s.Cached()) })
	m.gauge("doorlab_sync_lag_seconds", "How long the connected board that is furthest behind has been missing a change, in the lab's time.", "", "",
		func() float64 { lag, _ := s.Lag(); return lag.Seconds() })
	m.gauge("doorlab_boards_behind", "Connected boards that have not applied their place's revision.", "", "",
		func() float64 { _, n := s.Lag(); return float64(n) })
}

// watchStore shows whether the database takes writes, how many are waiting, and its size on disk.
func (m *metrics) watchStore(dir string, s *store.Store) {
	m.gauge("doorlab_store_queue", "Writes that wait for the next commit.", "", "", func() float64 { return float64(s.Queued()) })
	m.gauge("doorlab_store_writable", "1 while the database takes writes, otherwise 0: the disk is full, read-only, broken or stalled. Like /readyz, it tries a write if there hasn't just been one.", "", "",
		func() float64 {
			if s.Ping() != nil {
				return 0
			}
			return 1
		})
	for kind, name := range map[string]string{"database": "doorlab.db", "wal": "doorlab.db-wal"} {
		m.gauge("doorlab_store_bytes", "Size of the database and of its write-ahead log on disk.", "file", kind, func() float64 {
			info, err := os.Stat(filepath.Join(dir, name))
			if err != nil {
				return 0 // no log when all is in the database
			}
			return float64(info.Size())
		})
	}
}

// commit is store.Options.Committed.
func (m *metrics) commit(writes int, took time.Duration) {
	m.commits.Observe(took.Seconds())
	m.writes.Observe(float64(writes))
}

func (m *metrics) request(o api.Observation) {
	m.requests.WithLabelValues(o.Route, o.Method, strconv.Itoa(o.Status)).Observe(o.Elapsed.Seconds())
}

// command splits a command's time: each phase is the time since the one before. A command that was sent and got no
// report has no phase settled: its time would be the wait for the board.
func (m *metrics) command(p *command.Trail) {
	last := p.Accepted
	for i, at := range [len(phases)]time.Duration{p.Decided, p.Committed, p.Published, p.Reported, p.Settled} {
		if at == 0 || last == 0 || phases[i] == "settled" && p.Published > 0 && p.Reported == 0 {
			continue
		}
		m.phases[i].Observe((at - last).Seconds())
		last = at
	}
}

// synced observes an applied change; see SYNC-1 and SYNC-2.
func (m *metrics) synced(sinceHello bool, took time.Duration) {
	since := "commit"
	if sinceHello {
		since = "hello"
	}
	m.sync.WithLabelValues(since).Observe(took.Seconds())
}

// watchCalls shows how telephone calls over SIP were answered.
func (m *metrics) watchCalls(s *sip.Server) {
	for answer, n := range s.Answers() {
		m.counter("doorlab_sip_calls_total", "Calls over SIP by answer: opened, denied, failed (the door or the server couldn't), unanswered (no place has the number), "+
			"refused (from a stranger, without a caller's number, too many, or a copy).", "answer", answer, n.Load)
	}
}
