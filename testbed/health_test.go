package testbed

import (
	"net/http"
	"testing"

	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/world"
)

// A door whose board has never connected is unknown, not offline. The test place's built-in boards are online.
func TestHealthBeforeTheFirstConnection(t *testing.T) {
	t.Parallel()
	tb := must.Get(Start(t.Context(), Config{World: world.Default(3, 10), DataDir: t.TempDir(), Control: "127.0.0.1:0"}))(t)
	t.Cleanup(func() { _ = tb.Stop() })
	for i, want := range []string{"online", "unknown"} {
		var doors []struct{ Health struct{ State string } }
		clienttest.Do(t, partner(t, tb, i), http.MethodGet, "/device/v1/devices", nil, &doors)
		if len(doors) == 0 {
			t.Fatal("no doors")
		}
		for _, d := range doors {
			if d.Health.State != want {
				t.Errorf("place %d: health.state %q, want %q", i, d.Health.State, want)
			}
		}
	}
}
