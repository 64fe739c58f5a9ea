package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/must"
)

const alertWorld = `
seed: 21
places:
  - name: Watched
    kind: live
    fleet: {boards: 18, doorsPerBoard: 2, report: {p50: 2ms, p99: 5ms}}
    keys: [{name: load}]
  - name: Watched, too
    kind: live
    fleet: {boards: 2, doorsPerBoard: 2, report: {p50: 2ms, p99: 5ms}}
    keys: [{name: load}]
`

// alertLab is a server and its boards, and what Prometheus would have kept of them.
type alertLab struct {
	t           *testing.T
	public      client.Client
	lab, boards client.Client
	fleet       *proc
	disk        *badDisk
	board, door string

	pages  map[string]string   // metrics page by the labels that the scraper adds
	series map[string][]string // values by tick; _ = none
	ticks  int
	phases []alertPhase
}

func newAlertLab(t *testing.T, bin string, env []string) *alertLab {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "world.yaml")
	must.OK(t, os.WriteFile(file, []byte(alertWorld), 0o600))
	any0 := "127.0.0.1:0"
	l := &alertLab{t: t, disk: newBadDisk(t), series: map[string][]string{}}
	server := startBin(t, bin, append(l.disk.env(false), env...), "serve", "--json", "--clock", "virtual", "--world", file, "--data", filepath.Join(dir, "server"),
		"--http", any0, "--mqtt", any0, "--control", any0, "--control-token", "t").server()
	l.fleet = startBin(t, bin, env, "boards", "--json", "--clock", "virtual", "--world", file, "--data", filepath.Join(dir, "boards"),
		"--broker", server.MQTT, "--control", any0, "--control-token", "t")
	l.lab, l.boards = client.Client{Base: server.Control, Token: "t"}, client.Client{Base: l.fleet.fleet().Control, Token: "t"}
	l.pages = map[string]string{`job="server",instance="server:8081"`: l.lab.Base, `job="boards",instance="boards-1:8082"`: l.boards.Base}
	keys := newKeyLoad(t, server.HTTP, *server.Places[0].APIKey)
	l.public, l.door = keys.api, keys.doors[0]
	l.board = listBoards(t, l.boards.Base, "t")[0]
	l.until("doorlab_boards_online", "20")
	return l
}

// phase scrapes n times, after what do does; at its end these alerts must fire.
func (l *alertLab) phase(n int, do func(i int), fires ...string) {
	l.t.Helper()
	from := l.ticks
	for i := range n {
		if do != nil {
			do(i)
		}
		l.scrape()
	}
	l.phases = append(l.phases, alertPhase{from: from, to: l.ticks, fires: fires})
}

// mend clears the faults, waits until the metric is back to normal, and goes on
// until the alerts must have ended.
func (l *alertLab) mend(metric, want string, ended ...string) {
	l.t.Helper()
	clienttest.Do(l.t, l.boards, http.MethodPost, "/lab/v1/faults/reset", nil, nil)
	l.until(metric, want)
	l.phase(wellScrapes, nil)
	l.phases[len(l.phases)-1].before = ended
}

func (l *alertLab) fault(body map[string]any) {
	l.t.Helper()
	clienttest.Do(l.t, l.boards, http.MethodPost, "/lab/v1/faults", body, nil)
}

// advance moves the clocks of both processes, as check does.
func (l *alertLab) advance(by string) {
	l.t.Helper()
	for _, c := range []client.Client{l.lab, l.boards} {
		clienttest.Do(l.t, c, http.MethodPost, "/lab/v1/clock/advance", map[string]string{"by": by}, nil)
	}
}

// command asks to open a door.
func (l *alertLab) command(key string, want int) {
	l.t.Helper()
	if a, err := l.public.Open(l.t.Context(), l.door, key); err != nil || a.Status != want {
		l.t.Errorf("command %q: %v, %v, want status %d", key, a, err, want)
	}
}

// scrape keeps what the pages show now.
func (l *alertLab) scrape() {
	l.t.Helper()
	seen := map[string]string{}
	for target, base := range l.pages {
		families, err := metricsOf(base)
		seen["up{"+target+"}"] = map[bool]string{true: "1", false: "0"}[err == nil]
		for name, f := range families {
			if !strings.HasPrefix(name, "doorlab_") {
				continue
			}
			for _, m := range f.GetMetric() {
				samplesOf(name, f.GetType(), m, target, seen)
			}
		}
	}
	for name := range seen {
		if _, ok := l.series[name]; !ok {
			l.series[name] = slices.Repeat([]string{"_"}, l.ticks)
		}
	}
	for name := range l.series {
		value, ok := seen[name]
		if !ok {
			value = "_"
		}
		l.series[name] = append(l.series[name], value)
	}
	l.ticks++
}

func metricsOf(base string) (map[string]*dto.MetricFamily, error) {
	resp, err := http.Get(base + "/metrics")
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	p := expfmt.NewTextParser(model.UTF8Validation)
	return p.TextToMetricFamilies(resp.Body)
}

// samplesOf adds a metric's series to those seen, as Prometheus names them.
func samplesOf(name string, kind dto.MetricType, m *dto.Metric, target string, seen map[string]string) {
	labels := target
	for _, p := range m.GetLabel() {
		labels += fmt.Sprintf(",%s=%q", p.GetName(), p.GetValue())
	}
	put := func(suffix, more string, v float64) {
		seen[name+suffix+"{"+labels+more+"}"] = strconv.FormatFloat(v, 'f', -1, 64)
	}
	switch kind {
	case dto.MetricType_HISTOGRAM:
		h := m.GetHistogram()
		for _, b := range h.GetBucket() {
			put("_bucket", fmt.Sprintf(",le=%q", strconv.FormatFloat(b.GetUpperBound(), 'g', -1, 64)), float64(b.GetCumulativeCount()))
		}
		put("_sum", "", h.GetSampleSum())
		put("_count", "", float64(h.GetSampleCount()))
	case dto.MetricType_COUNTER:
		put("", "", m.GetCounter().GetValue())
	default:
		put("", "", m.GetGauge().GetValue())
	}
}

// value is a metric without labels, on the server's page.
func (l *alertLab) value(metric string) string {
	l.t.Helper()
	families, err := metricsOf(l.lab.Base)
	if err != nil || families[metric] == nil {
		l.t.Fatalf("%s on %s: %v", metric, l.lab.Base, err)
	}
	return strconv.FormatFloat(families[metric].GetMetric()[0].GetGauge().GetValue(), 'f', -1, 64)
}

func (l *alertLab) until(metric, want string) {
	l.t.Helper()
	got := ""
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if got = l.value(metric); got == want {
			return
		}
	}
	l.t.Fatalf("%s is %s, want %s", metric, got, want)
}
