package api

import (
	"maps"
	"runtime"
	"testing"
)

// TestHealthSaysWhat: the process lives, it is ready, and it names its build.
func TestHealthSaysWhat(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(c *Config) { c.Version = "v1.2.3" })
	for _, path := range []string{"/livez", "/readyz"} {
		if got, want := h.want(200, "", request{method: "GET", path: path}).data(), map[string]any{"status": "ok"}; !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
	if got := h.want(200, "", request{method: "GET", path: "/version"}).data(); got["version"] != "v1.2.3" || got["go"] != runtime.Version() {
		t.Errorf("/version: %v, want v1.2.3 and %s", got, runtime.Version())
	}
}
