package testbed

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"runtime/debug"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/doorlab/doorlab/internal/listen"
)

// ofProcess are the metrics that every process has: its version, the Go runtime,
// memory, descriptors and processor time. version "" is the build's.
func ofProcess(version string) prometheus.Gatherer {
	if b, ok := debug.ReadBuildInfo(); ok && version == "" {
		version = b.Main.Version
	}
	version = cmp.Or(version, "devel")
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "doorlab_build_info", Help: "Always 1; the labels say what is running.",
			ConstLabels: prometheus.Labels{"version": version, "goversion": runtime.Version()}}, func() float64 { return 1 }))
	return r
}

// recordingMetrics are the size of a recording, 0 while nothing is recorded; events also come from a log in memory.
func recordingMetrics(events, bytes func() int64) prometheus.Gatherer {
	r := prometheus.NewRegistry()
	r.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "doorlab_history_events", Help: "Events in the current recording of the history, or in the last one."}, func() float64 { return float64(events()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "doorlab_history_bytes", Help: "Size of that recording on disk."}, func() float64 { return float64(bytes()) }))
	return r
}

// events and bytes of the history of this process.
func (t *Testbed) events() int64 {
	if t.spool != nil {
		return t.spool.Len()
	}
	return t.History.Len()
}

func (t *Testbed) bytes() int64 {
	if t.spool != nil {
		return t.spool.Size()
	}
	return 0
}

// metricsPage shows everything that this process counts.
func (t *Testbed) metricsPage() http.Handler {
	process, fleet, recording := ofProcess(t.cfg.Version), t.fleet.Metrics(), recordingMetrics(t.events, t.bytes)
	return t.now(func(l *life) http.Handler {
		return metricsPage(process, t.caps.metrics(), t.certs.metrics(), l.server.Metrics(), fleet, recording)
	})
}

// metricsPage shows several sources on one page.
func metricsPage(sources ...prometheus.Gatherer) http.Handler {
	return promhttp.HandlerFor(prometheus.Gatherers(sources), promhttp.HandlerOpts{})
}

// ServeMetrics shows what a command counts while it runs, and what its process uses, on a listener of its own, until stop
// is called. addr is host:port; version is as in Config; url is the page. stop returns the error with which the listener
// ended before that, if it did.
func ServeMetrics(addr, version string, of prometheus.Gatherer) (url string, stop func() error, err error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return "", nil, taken("metrics", addr, err)
	}
	return "http://" + l.Addr().String() + "/metrics", serveMetrics(l, metricsPage(ofProcess(version), of)), nil
}

func serveMetrics(l net.Listener, page http.Handler) (stop func() error) {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", page)
	server, ended := listen.Server(listen.LoopbackHosts(l.Addr(), mux)), make(chan error, 1)
	go func() { ended <- listen.Serve(server, l) }()
	return func() error {
		closed := server.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("the listener on %s failed during the run: %w", l.Addr(), err)
		}
		return closed
	}
}
