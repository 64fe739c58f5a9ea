package testbed

import (
	"cmp"
	"net/http"
	"runtime"
	"runtime/debug"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// ofProcess are the metrics that every process has: its version, the Go runtime,
// memory, descriptors and processor time.
func ofProcess() prometheus.Gatherer {
	version := "devel"
	if b, ok := debug.ReadBuildInfo(); ok {
		version = cmp.Or(b.Main.Version, version)
	}
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "doorlab_build_info", Help: "Always 1; the labels say what runs.",
			ConstLabels: prometheus.Labels{"version": version, "goversion": runtime.Version()}}, func() float64 { return 1 }))
	return r
}

// metricsPage shows everything that this process counts.
func (t *Testbed) metricsPage() http.Handler {
	process, fleet := ofProcess(), t.fleet.Metrics()
	return t.now(func(l *life) http.Handler {
		return metricsPage(process, t.caps.metrics(), t.certs.metrics(), l.server.Metrics(), fleet)
	})
}

// metricsPage shows several sources on one page.
func metricsPage(sources ...prometheus.Gatherer) http.Handler {
	return promhttp.HandlerFor(prometheus.Gatherers(sources), promhttp.HandlerOpts{})
}
