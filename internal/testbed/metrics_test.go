package testbed

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/world"
)

func TestMetricsCountTheBoards(t *testing.T) {
	t.Parallel()
	tb, err := Start(t.Context(), Config{World: world.Default(5, 10), Fleet: true, DataDir: t.TempDir(), Control: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tb.Stop() })
	resp, err := http.Get(tb.Ready.Control + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	page, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\ndoorlab_boards_online 11\n", "\ndoorlab_sync_sent_total{kind=\"snapshot\"} 11\n"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("no %q in the page", strings.TrimSpace(want))
		}
	}
}
