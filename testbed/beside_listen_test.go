package testbed

import (
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/world"
)

// Without a control API, the metrics get a listener of their own that serves nothing else, and profiles get one on
// loopback.
func TestListenersBeside(t *testing.T) {
	t.Parallel()
	tb := must.Get(Start(t.Context(), Config{World: world.Default(3, 10), DataDir: t.TempDir(), Metrics: "127.0.0.1:0", Debug: "127.0.0.1:0"}))(t)
	t.Cleanup(func() { _ = tb.Stop() })
	if code, page := clienttest.Get(t, tb.Ready.Metrics); code != http.StatusOK || !strings.Contains(page, "doorlab_build_info{") {
		t.Errorf("%s answers %d without doorlab_build_info, want 200 with it:\n%.500s", tb.Ready.Metrics, code, page)
	}
	if code, _ := clienttest.Get(t, strings.TrimSuffix(tb.Ready.Metrics, "/metrics")+"/lab/v1/boards"); code != http.StatusNotFound {
		t.Errorf("the control API on the listener of the metrics answers %d, want 404", code)
	}
	if code, page := clienttest.Get(t, tb.Ready.Debug+"goroutine?debug=1"); code != http.StatusOK || !strings.Contains(page, "goroutine profile") {
		t.Errorf("the goroutines' profile answers %d, want 200:\n%.500s", code, page)
	}
	of, stop, err := ServeMetrics("127.0.0.1:0", "", prometheus.NewRegistry())
	must.OK(t, err)
	t.Cleanup(func() { _ = stop() })
	for _, url := range []string{tb.Ready.Metrics, tb.Ready.Debug, of} {
		req := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil))(t)
		req.Host = "evil.example"
		resp := must.Get(http.DefaultClient.Do(req))(t)
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusMisdirectedRequest {
			t.Errorf("%s for a stranger's name that resolves here: %d, want 421", url, resp.StatusCode)
		}
	}
	for _, path := range []string{"/metrics", "/debug/pprof/"} {
		if code, _ := clienttest.Get(t, tb.Ready.HTTP+path); code != http.StatusNotFound {
			t.Errorf("%s on the public listener answers %d, want 404", path, code)
		}
	}
	if _, err := Start(t.Context(), Config{World: tb.cfg.World, DataDir: t.TempDir(), Debug: "0.0.0.0:0"}); err == nil || !strings.Contains(err.Error(), "--debug-addr") {
		t.Errorf("profiles off loopback: %v, want an error that names --debug-addr", err)
	}
}

// brokenListener fails when it is asked for the first connection.
type brokenListener struct {
	net.Listener
	closed chan struct{}
}

func (l brokenListener) Accept() (net.Conn, error) { return nil, errors.New("out of descriptors") }

func (l brokenListener) Close() error {
	close(l.closed)
	return l.Listener.Close()
}

// A listener of metrics that fails during a run says so at the end; one that is stopped doesn't.
func TestMetricsListenerFails(t *testing.T) {
	t.Parallel()
	nothing := http.NotFoundHandler()
	broken := brokenListener{must.Get(net.Listen("tcp", "127.0.0.1:0"))(t), make(chan struct{})}
	stop := serveMetrics(broken, nothing)
	<-broken.closed // the server has given it up
	if err := stop(); err == nil || !strings.Contains(err.Error(), "failed during the run: out of descriptors") {
		t.Errorf("a broken listener ends with %v, want its error", err)
	}
	if err := serveMetrics(must.Get(net.Listen("tcp", "127.0.0.1:0"))(t), nothing)(); err != nil {
		t.Errorf("a listener that is stopped ends with %v, want no error", err)
	}
}
