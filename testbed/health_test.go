package testbed

import (
	"net/http"
	"testing"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/world"
)

// A door whose board has never connected is unknown, not offline, also after the server was stopped or killed. The test
// place's built-in boards are online.
func TestHealthBeforeTheFirstConnection(t *testing.T) {
	t.Parallel()
	tb := must.Get(Start(t.Context(), Config{World: world.Default(3, 10), DataDir: t.TempDir(), Control: "127.0.0.1:0"}))(t)
	t.Cleanup(func() { _ = tb.Stop() })
	unheard(t, partner(t, tb, 0), "online")
	unheard(t, partner(t, tb, 1), "unknown")
	for _, kill := range []bool{false, true, false} {
		clienttest.Do(t, tb.lab(), http.MethodPost, "/lab/v1/restart", map[string]any{"kill": kill}, nil)
		unheard(t, partner(t, tb, 1), "unknown")
	}
}

// unheard checks the health of a place's doors and, if it is unknown, that nobody has seen their boards.
func unheard(t *testing.T, c client.Client, want string) {
	t.Helper()
	var doors []struct {
		Health struct {
			State             string
			Since, LastSeenAt *string
		}
	}
	clienttest.Do(t, c, http.MethodGet, "/device/v1/devices", nil, &doors)
	if len(doors) == 0 {
		t.Fatal("no doors")
	}
	for _, d := range doors {
		if h := d.Health; h.State != want || want == "unknown" && (h.Since != nil || h.LastSeenAt != nil) {
			t.Errorf("got health %+v, want state %q", h, want)
		}
	}
	var boards []struct {
		Online     bool
		LastSeenAt *string
	}
	clienttest.Do(t, c, http.MethodGet, "/device/v1/boards", nil, &boards)
	for _, b := range boards {
		if b.Online != (want == "online") || (b.LastSeenAt == nil) != (want == "unknown") {
			t.Errorf("got board %+v, want it %s", b, want)
		}
	}
}
