package testbed

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/doorlab/doorlab/internal/listen"
)

// caps bound the connections of the three listeners.
type caps struct {
	public, control, broker *listen.Cap
	greet                   int
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
		broker: listen.NewCap(s.Broker, 0), greet: s.Greet}, nil
}

// metrics are what the caps count.
func (c caps) metrics() prometheus.Gatherer {
	r := prometheus.NewRegistry()
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
