package testbed

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/world"
)

// A door whose board has never connected is unknown, not offline; one of the
// test place's built-in boards is online.
func TestHealthBeforeTheFirstConnection(t *testing.T) {
	t.Parallel()
	tb, err := Start(t.Context(), Config{World: world.Default(3, 10), DataDir: t.TempDir(), Control: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tb.Stop() })
	c := client.Client{Base: tb.Ready.HTTP}
	for i, want := range []string{"online", "unknown"} {
		token, _, err := c.Exchange(t.Context(), *tb.Ready.Places[i].APIKey)
		if err != nil {
			t.Fatal(err)
		}
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, tb.Ready.HTTP+"/device/v1/devices", nil)
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		var list struct {
			Data []struct {
				Health struct{ State string }
			}
		}
		err = json.NewDecoder(resp.Body).Decode(&list)
		_ = resp.Body.Close()
		if err != nil || len(list.Data) == 0 {
			t.Fatalf("%v, %d doors", err, len(list.Data))
		}
		for _, d := range list.Data {
			if d.Health.State != want {
				t.Errorf("place %d: health.state %q, want %q", i, d.Health.State, want)
			}
		}
	}
}
