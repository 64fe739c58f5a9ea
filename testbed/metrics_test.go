package testbed

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/shard"
	"github.com/doorlab/doorlab/internal/world"
)

// TestStrangersMakeNoSeries: whatever is in the request line, even without a token, the metrics page grows by at most
// a few lines.
func TestStrangersMakeNoSeries(t *testing.T) {
	t.Parallel()
	tb := begin(t, Config{})
	for i := range 300 {
		n := strconv.Itoa(i)
		for _, line := range [][2]string{{"X" + n, "/nope"}, {"GET", "/nope/" + n}, {"Y" + n, "/core/v1/auth/apikey/token"}, {"Z" + n, "/space/v1/access/people"}} {
			req := must.Get(http.NewRequest(line[0], tb.Ready.HTTP+line[1], nil))(t)
			resp := must.Get(http.DefaultClient.Do(req))(t)
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
			if resp.StatusCode < 400 {
				t.Fatalf("%s %s: %d, want a refusal", line[0], line[1], resp.StatusCode)
			}
		}
	}
	page := metricsOf(t, tb.Ready.Control)
	if n := strings.Count(page, "doorlab_http_request_seconds_count{"); n > 10 {
		t.Errorf("%d series of requests, want at most 10:\n%.2000s", n, page)
	}
	for _, want := range []string{`method="GET",route="other",status="404"`, `method="other",route="other",status="404"`, `method="other",route="/core/v1/auth/apikey/token",status="405"`} {
		if !strings.Contains(page, want) {
			t.Errorf("no series with %s", want)
		}
	}
}

// TestFleetOfItsOwn: a fleet in its own process serves the pages that Prometheus and 'doorlab wait' request, without
// a token.
func TestFleetOfItsOwn(t *testing.T) {
	t.Parallel()
	w := world.Default(3, 4)
	tb := must.Get(Start(t.Context(), Config{World: w, Version: "v1.2.3", Seeded: true, DataDir: t.TempDir(), Control: "127.0.0.1:0"}))(t)
	t.Cleanup(func() { _ = tb.Stop() })
	f, err := StartFleet(t.Context(), FleetConfig{World: w, Version: "v1.2.3", Broker: strings.TrimPrefix(tb.Ready.MQTT, "tcp://"), Slice: shard.Shard{Index: 1, Of: 2},
		DataDir: t.TempDir(), Control: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Stop() })
	if status := get(t, f.Ready.Control+"/readyz"); status != http.StatusOK {
		t.Errorf("/readyz answers %d, want 200", status)
	}
	f.started.Store(false)
	if status := get(t, f.Ready.Control+"/readyz"); status != http.StatusServiceUnavailable {
		t.Errorf("/readyz answers %d before every board was connected, want 503", status)
	}
	page := metricsOf(t, f.Ready.Control)
	for _, want := range []string{"\n" + `doorlab_fleet_boards{phase="online"} 2`, "\ndoorlab_fleet_boards_online 2", "\n" + `doorlab_fleet_faulty_boards{fault="offline"} 0`,
		"\n" + `doorlab_fleet_journal_lines_total{action="pulse"} 0`, "\ndoorlab_build_info{", `version="v1.2.3"} 1`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q on the fleet's page", want)
		}
	}
	if _, body := clienttest.Get(t, tb.Ready.HTTP+"/version"); !strings.Contains(body, `"version":"v1.2.3"`) {
		t.Errorf("/version: got %s, want v1.2.3", body)
	}
	if want := `version="v1.2.3"} 1`; !strings.Contains(metricsOf(t, tb.Ready.Control), want) {
		t.Errorf("no %q on the server's page", want)
	}
}

func get(t *testing.T, url string) int {
	t.Helper()
	status, _ := clienttest.Get(t, url)
	return status
}

func metricsOf(t *testing.T, control string) string {
	t.Helper()
	_, page := clienttest.Get(t, control+"/metrics")
	return page
}

func TestMetricsCountTheBoards(t *testing.T) {
	t.Parallel()
	tb := must.Get(Start(t.Context(), Config{World: world.Default(5, 10), Fleet: true, DataDir: t.TempDir(), Control: "127.0.0.1:0"}))(t)
	t.Cleanup(func() { _ = tb.Stop() })
	page := metricsOf(t, tb.Ready.Control)
	for _, want := range []string{"\ndoorlab_boards_online 11\n", "\ndoorlab_sync_sent_total{kind=\"snapshot\"} 11\n"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in the page", strings.TrimSpace(want))
		}
	}
}
