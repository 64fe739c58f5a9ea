package testbed

import (
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"

	"github.com/doorlab/doorlab/internal/listen"
	"github.com/doorlab/doorlab/internal/loopback"
)

// beside are the listeners that a running service has in addition to the main three, both off by default: metrics for a
// server without a control API, and profiles.
type beside struct {
	metrics, debug net.Listener
	servers        []*http.Server
}

// listenBeside takes their addresses. Errors: a taken port; a debug address off loopback, because profiles show the
// contents of memory.
func (t *Testbed) listenBeside(c Config) (err error) {
	if c.Debug != "" && !loopback.Host(c.Debug) {
		return fmt.Errorf("--debug-addr %s isn't on loopback, and profiles show what the memory holds; use 127.0.0.1 and a tunnel", c.Debug)
	}
	if c.Metrics != "" {
		if t.beside.metrics, err = t.listen("metrics", c.Metrics); err != nil {
			return err
		}
		t.Ready.Metrics = "http://" + t.beside.metrics.Addr().String() + "/metrics"
	}
	if c.Debug != "" {
		if t.beside.debug, err = t.listen("debug-addr", c.Debug); err != nil {
			return err
		}
		t.Ready.Debug = "http://" + t.beside.debug.Addr().String() + "/debug/pprof/"
	}
	return nil
}

// serveBeside begins to answer on them.
func (t *Testbed) serveBeside() {
	if l := t.beside.metrics; l != nil {
		mux := http.NewServeMux()
		mux.Handle("GET /metrics", t.metricsPage())
		t.aside("the metrics", listen.Server(listen.LoopbackHosts(l.Addr(), mux)), t.caps.control.On(l))
	}
	if l := t.beside.debug; l != nil {
		mux := http.NewServeMux()
		for path, h := range map[string]http.HandlerFunc{"": pprof.Index, "cmdline": pprof.Cmdline, "profile": pprof.Profile, "symbol": pprof.Symbol, "trace": pprof.Trace} {
			mux.HandleFunc("/debug/pprof/"+path, h)
		}
		t.aside("the profiles", &http.Server{Handler: listen.LoopbackHosts(l.Addr(), mux), ReadHeaderTimeout: listen.HeaderTimeout}, l)
	}
}

func (t *Testbed) aside(what string, s *http.Server, l net.Listener) {
	t.beside.servers = append(t.beside.servers, s)
	t.serve(what, func() error { return listen.Serve(s, l) })
}
