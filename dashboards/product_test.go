package dashboards

import (
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/doorlab/doorlab/internal/certs"
	"github.com/doorlab/doorlab/internal/certs/certstest"
	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/loadtest"
	"github.com/doorlab/doorlab/scenarios/engine"
	"github.com/doorlab/doorlab/testbed"
)

var update = flag.Bool("update", false, "rewrite docs/metrics.md")

// families are the metrics of a page, by name.
type families map[string]*dto.MetricFamily

// product starts a server and a separate fleet, as in two processes, opens a door, runs a load and a check against
// them, and returns the metrics page of each.
func product(t *testing.T) map[string]families {
	t.Helper()
	w := world.Default(3, 2)
	ca := certstest.NewCA(t)
	cert, key := ca.Issue("server", 1)
	files := certs.Files{Cert: cert, Key: key}
	trust := must.Get(certs.Client{CA: ca.File}.Config())(t)
	tb := must.Get(testbed.Start(t.Context(), testbed.Config{World: w, Seeded: true, DataDir: t.TempDir(), Control: "127.0.0.1:0", SIP: "127.0.0.1:0", TLS: files, MQTTTLS: files}))(t)
	t.Cleanup(func() { _ = tb.Stop() })
	f := must.Get(testbed.StartFleet(t.Context(), testbed.FleetConfig{World: w, Broker: strings.TrimPrefix(tb.Ready.MQTT, "mqtts://"), TLS: trust,
		Control: "127.0.0.1:0", DataDir: t.TempDir()}))(t)
	t.Cleanup(func() { _ = f.Stop() })
	c := client.Client{Base: tb.Ready.HTTP, HTTP: client.Trusting(trust)}
	t.Cleanup(c.HTTP.CloseIdleConnections)
	c = must.Get(c.SignIn(t.Context(), *tb.Ready.Places[1].APIKey))(t)
	if a, err := c.Open(t.Context(), w.Places[1].Boards[0].Doors[0].ID, "dashboards-1"); err != nil || a.Status != http.StatusOK {
		t.Fatalf("opening a door: %v, %v, want status 200", a, err)
	}
	load := loadtest.NewMetrics()
	plan := filepath.Join(t.TempDir(), "plan.yaml")
	must.OK(t, os.WriteFile(plan, []byte("rate: 20/s\nduration: 1s\nmaxLag: 30s\n"), 0o600))
	target := engine.Target{HTTP: tb.Ready.HTTP, TLS: trust, Places: engine.PlacesOf(tb.Ready.Places[1:2])}
	must.Get(loadtest.Run(t.Context(), target, must.Get(loadtest.Load(plan))(t), loadtest.Options{OutDir: t.TempDir(), Metrics: load}))(t)
	check := engine.NewMetrics()
	file := must.Get(engine.Parse("check.yaml", []byte("steps:\n  - call: {path: /device/v1/devices, token: \"\", status: 401, error: token_missing}\n    clauses: [AUTH-2]\n")))(t)
	must.Get(engine.Run(t.Context(), target, []*engine.File{file}, engine.Options{Metrics: check}))(t)
	return map[string]families{"server": page(t, tb.Ready.Control+"/metrics"), "boards": page(t, f.Ready.Control+"/metrics"),
		"load": shown(t, load.Gatherer()), "check": shown(t, check.Gatherer())}
}

// shown is the metrics page of a command while it runs.
func shown(t *testing.T, of prometheus.Gatherer) families {
	t.Helper()
	url, stop, err := testbed.ServeMetrics("127.0.0.1:0", "", of)
	must.OK(t, err)
	defer func() { must.OK(t, stop()) }()
	return page(t, url)
}

func page(t *testing.T, url string) families {
	t.Helper()
	resp := must.Get(http.Get(url))(t)
	defer func() { _ = resp.Body.Close() }()
	p := expfmt.NewTextParser(model.UTF8Validation)
	all, err := p.TextToMetricFamilies(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: status %d, %v, want %d and no error", url, resp.StatusCode, err, http.StatusOK)
	}
	return all
}

// scrape maps each series name of the product to its labels and their values.
func scrape(t *testing.T) map[string]map[string][]string {
	t.Helper()
	out := map[string]map[string][]string{}
	for _, shown := range product(t) {
		for name, family := range shown {
			names := []string{name}
			if family.GetType() == dto.MetricType_HISTOGRAM {
				names = []string{name + "_bucket", name + "_sum", name + "_count"}
			}
			for _, n := range names {
				if out[n] == nil {
					out[n] = map[string][]string{}
				}
				for _, m := range family.GetMetric() {
					for _, l := range m.GetLabel() {
						out[n][l.GetName()] = append(out[n][l.GetName()], l.GetValue())
					}
				}
			}
		}
	}
	return out
}

// open are the labels whose values depend on the traffic; all values come from a closed list.
var open = map[string]string{"route": "route template", "method": "HTTP method", "version": "", "goversion": "", "fault": "fault name"}

// TestMetricsDocs: docs/metrics.md lists what the product exports.
func TestMetricsDocs(t *testing.T) {
	t.Parallel()
	const file = "../docs/metrics.md"
	have := must.Get(os.ReadFile(file))(t)
	const begin, end = "<!-- metrics -->\n", "<!-- end -->"
	head, rest, ok1 := strings.Cut(string(have), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no lines %q and %q", file, begin, end)
	}
	want := head + begin + table(product(t)) + end + tail
	if want == string(have) {
		return
	}
	if *update {
		must.OK(t, os.WriteFile(file, []byte(want), 0o644))
		return
	}
	t.Errorf("docs/metrics.md isn't what the product exports; run 'make docs'")
}

func table(pages map[string]families) string {
	var b strings.Builder
	b.WriteString("| metric | type | labels | shown by | what |\n|---|---|---|---|---|\n")
	all := families{}
	for _, shown := range pages {
		maps.Copy(all, shown)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !strings.HasPrefix(name, "doorlab_") {
			continue
		}
		f := all[name]
		var by []string
		for _, who := range []string{"server", "boards", "load", "check"} {
			if shown := pages[who][name]; shown != nil {
				by = append(by, who)
			}
		}
		if f := pages["server"][name]; f != nil { // with the labels that all its series have
			all[name] = f
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", name, strings.ToLower(f.GetType().String()), labelText(f), strings.Join(by, ", "), f.GetHelp())
	}
	return b.String()
}

func labelText(f *dto.MetricFamily) string {
	values := map[string][]string{}
	for _, m := range f.GetMetric() {
		for _, l := range m.GetLabel() {
			values[l.GetName()] = append(values[l.GetName()], l.GetValue())
		}
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		slices.Sort(values[name])
		list := "`" + strings.Join(slices.Compact(values[name]), "` `") + "`"
		if what, ok := open[name]; ok {
			list = what
		}
		if name == "status" { // of an answer, or of a scenario, a step or a guarantee
			if list = "HTTP status"; strings.HasPrefix(f.GetName(), "doorlab_check_") {
				list = "`BLOCKED` `FAIL` `INVALID` `PASS` `SKIPPED`"
			}
		}
		out = append(out, strings.TrimSpace("`"+name+"` "+list))
	}
	return strings.ReplaceAll(strings.Join(out, ", "), "|", `\|`)
}
