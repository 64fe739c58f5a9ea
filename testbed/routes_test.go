package testbed

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
)

// TestControlAPIIsDocumented: docs/control-api.md names every route of the
// control listener, and none that is not there.
func TestControlAPIIsDocumented(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../docs/control-api.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for line := range strings.Lines(string(b)) {
		if cell, _, ok := strings.Cut(strings.TrimPrefix(line, "| `"), "` |"); ok && strings.HasPrefix(line, "| `") {
			documented[cell] = true
		}
	}
	tb := begin(t, Config{})
	there := map[string]bool{"POST /server": true} // of a fleet apart
	err = chi.Walk(tb.life.Load().control.(chi.Routes), func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		there[method+" "+strings.TrimPrefix(route, "/lab/v1")] = true
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for route := range there {
		if !documented[route] {
			t.Errorf("docs/control-api.md does not name %s", route)
		}
	}
	for route := range documented {
		if !there[route] {
			t.Errorf("docs/control-api.md names %s, which is not there", route)
		}
	}
}
