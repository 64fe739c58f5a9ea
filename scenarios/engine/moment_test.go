package engine

import (
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/must"
)

// TestMarksOfSeveralClocks: a mark is later than anything that any process has reported before, even within the same
// millisecond and although their clocks differ. The server's own view of time isn't changed.
func TestMarksOfSeveralClocks(t *testing.T) {
	t.Parallel()
	server, fleet, target := twoFakes(t, 30*time.Millisecond)
	l := newRun(target, Options{}).lab
	must.OK(t, l.discover(t.Context()))
	at, view, err := l.moment(t.Context())
	if err != nil || !at.Equal(fleet.now.Truncate(time.Millisecond).Add(time.Millisecond)) || !view.Now.Equal(server.now) {
		t.Errorf("the mark is at %v, the server's view %v, %v; want %v and %v", at, view.Now, err, fleet.now.Truncate(time.Millisecond).Add(time.Millisecond), server.now)
	}
}

// TestFewControlConnections: many concurrent requests share a few connections to a control listener, which resets
// connections beyond its limit.
func TestFewControlConnections(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	open, most := 0, 0
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		say(w, 200, m{"data": m{}})
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		mu.Lock()
		defer mu.Unlock()
		switch state {
		case http.StateNew:
			open++
			most = max(most, open)
		case http.StateClosed:
			open--
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	l := newLab(Target{Control: []string{s.URL}})
	l.watch = newRun(Target{}, Options{})
	must.OK(t, atOnce(100, 100, func(int) error { return l.ask(t.Context(), s.URL, http.MethodGet, "/clock", nil, nil) }))
	mu.Lock()
	defer mu.Unlock()
	if most > labConns {
		t.Errorf("100 requests over %d connections at once, want at most %d", most, labConns)
	}
}
