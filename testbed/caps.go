package testbed

import (
	"net/http"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/doorlab/doorlab/internal/listen"
)

// caps bound the connections of the three listeners, and count the public API's requests that have no answer yet.
type caps struct {
	public, control, broker *listen.Cap
	greet                   int
	asked                   *atomic.Int64
}

// newCaps divides the descriptors. One address gets half of a listener, so that no careless client can lock out the
// others. Known boards have no limit per address, since each has a password and one connection.
func newCaps(c Config) (caps, error) {
	proxies, err := listen.Prefixes(c.TrustedProxy)
	if err != nil {
		return caps{}, err
	}
	s := listen.Share(listen.Descriptors())
	return caps{public: listen.NewCap(s.Public, s.Public/2, proxies...), control: listen.NewCap(s.Control, s.Control/2),
		broker: listen.NewCap(s.Broker, 0), greet: s.Greet, asked: new(atomic.Int64)}, nil
}

// counting counts what h hasn't answered yet.
func (c caps) counting(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.asked.Add(1)
		defer c.asked.Add(-1)
		h.ServeHTTP(w, r)
	})
}

// metrics are what the caps count.
func (c caps) metrics() prometheus.Gatherer {
	r := prometheus.NewRegistry()
	r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "doorlab_http_requests_in_flight",
		Help: "Requests of the public API that have no answer yet."}, func() float64 { return float64(c.asked.Load()) }))
	for name, cap := range map[string]*listen.Cap{"public": c.public, "control": c.control, "broker": c.broker} {
		labels := prometheus.Labels{"listener": name}
		r.MustRegister(
			prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "doorlab_listener_connections", Help: "Open connections by listener.", ConstLabels: labels},
				func() float64 { return float64(cap.Open()) }),
			prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "doorlab_listener_refused_total",
				Help: "Connections closed at once because the listener's limit, in total or per address, was reached.", ConstLabels: labels},
				func() float64 { return float64(cap.Refused()) }))
	}
	return r
}
