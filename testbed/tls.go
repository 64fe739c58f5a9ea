package testbed

import (
	"cmp"
	"fmt"
	"log/slog"
	"net"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/doorlab/doorlab/internal/certs"
	"github.com/doorlab/doorlab/internal/loopback"
)

// shown are the certificates of the listeners; nil = the listener doesn't use TLS.
type shown struct{ http, mqtt *certs.Server }

// openCerts reads the certificates. Errors: those of certs.Open, with the flag's name.
func (t *Testbed) openCerts(c Config) (err error) {
	for _, l := range []struct {
		name  string
		files certs.Files
		to    **certs.Server
	}{{"--tls-cert", c.TLS, &t.certs.http}, {"--mqtt-tls-cert", c.MQTTTLS, &t.certs.mqtt}} {
		if *l.to, err = certs.Open(l.files, func(err error) {
			logOf(c).Error("the changed certificate can't be used; the previous one stays in use", "flag", l.name, "error", err)
		}); err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
	}
	return nil
}

// warnOfPlain names every listener that others can reach and that doesn't use TLS.
func (t *Testbed) warnOfPlain(c Config) {
	for _, l := range []struct {
		flag, addr string
		certs      *certs.Server
		what       string
	}{
		{"http", c.HTTP, t.certs.http, "keys, tokens and entry links cross the network in clear; set --tls-cert and --tls-key, or put a proxy with TLS in front"},
		{"mqtt", c.MQTT, t.certs.mqtt, "board passwords and commands cross the network in clear; set --mqtt-tls-cert and --mqtt-tls-key"},
		{"control", c.Control, t.certs.http, "the control token crosses the network in clear; set --tls-cert and --tls-key, or listen on loopback"},
		{"sip", c.SIP, nil, "SIP has no encryption here: caller ids cross the network in clear; keep it in the trunk's network"},
	} {
		if l.addr != "" && !loopback.Host(l.addr) && l.certs == nil {
			logOf(c).Warn("listener off loopback without TLS", "flag", "--"+l.flag, "address", l.addr, "why", l.what)
		}
	}
}

// warnOfLinks says that entry links can't be opened: they begin with the listener's address, and this one is every
// address of the machine.
func (t *Testbed) warnOfLinks(c Config, public net.Addr) {
	host, _, err := net.SplitHostPort(public.String())
	if ip := net.ParseIP(host); err != nil || c.LinkURL != "" || !ip.IsUnspecified() {
		return
	}
	logOf(c).Warn("entry links can't be opened", "flag", "--link-url", "why", "they would begin with "+t.httpURL(public)+", every address of this machine; set --link-url to the URL that people use")
}

// httpURL is the address of the public API.
func (t *Testbed) httpURL(public net.Addr) string {
	return scheme(t.certs.http, "https://", "http://") + public.String()
}

// ofControl is the certificate of the control API. On loopback it doesn't use TLS, because the public API's certificate
// isn't valid for loopback names.
func (t *Testbed) ofControl(l net.Listener) *certs.Server {
	if loopback.Host(l.Addr().String()) {
		return nil
	}
	return t.certs.http
}

// metrics say when the certificates expire; they check the files as a handshake does.
func (s shown) metrics() prometheus.Gatherer {
	r := prometheus.NewRegistry()
	for name, c := range map[string]*certs.Server{"public": s.http, "broker": s.mqtt} {
		if c == nil {
			continue
		}
		r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "doorlab_tls_not_after_seconds",
			Help: "When the certificate of a listener expires, in Unix time; only with TLS.", ConstLabels: prometheus.Labels{"listener": name}},
			func() float64 { return float64(c.NotAfter().Unix()) }))
	}
	return r
}

// scheme is the first of two with TLS, else the second.
func scheme(c *certs.Server, tls, plain string) string {
	if c == nil {
		return plain
	}
	return tls
}

func logOf(c Config) *slog.Logger { return cmp.Or(c.Log, slog.New(slog.DiscardHandler)) }
