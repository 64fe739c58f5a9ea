package loadtest

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/each"
)

// Environment is where a load was measured: without it, figures of two runs can't be compared.
type Environment struct {
	Go       string  `json:"go"`
	Platform string  `json:"platform"` // like linux/amd64
	CPUs     int     `json:"cpus"`
	MaxProcs int     `json:"maxProcs"`         // GOMAXPROCS of the generator
	Boards   int64   `json:"boards,omitempty"` // in the server's world; 0 = unknown
	Link     string  `json:"link,omitempty"`   // of the run's own boards: memory or tcp
	Client   string  `json:"client,omitempty"` // their MQTT client
	Report   *Report `json:"report,omitempty"` // how soon they report; nil = unknown
}

// Process is what a process used during the load, the judging left out; of a search, during the step that its result is about.
type Process struct {
	Name         string  `json:"name"`    // generator, server, boards, or several that share one
	Seconds      float64 `json:"seconds"` // how long it was watched: until the last answer; 0 = as long as requests were sent
	CPUSeconds   float64 `json:"cpuSeconds"`
	MemoryBytes  int64   `json:"memoryBytes"`  // resident, at the end
	Collections  int64   `json:"collections"`  // of garbage
	CollectionMs float64 `json:"collectionMs"` // all their pauses together
}

// said is a process in a report. sending is how long requests were sent, for results that don't tell how long it was watched.
func (p Process) said(sending float64) string {
	return fmt.Sprintf("%s: CPU %.2f cores, memory %s MB, %s (%s in total)", p.Name, p.CPUSeconds/max(cmp.Or(p.Seconds, sending), 0.001), amount.Number(p.MemoryBytes/1e6),
		amount.Many(int(p.Collections), "garbage collection"), ms(p.CollectionMs))
}

func (e Environment) said() string {
	out := fmt.Sprintf("%s, %s, %s, GOMAXPROCS %d", e.Go, e.Platform, amount.Many(e.CPUs, "CPU"), e.MaxProcs)
	if e.Boards > 0 {
		out += ", " + amount.Many(int(e.Boards), "board")
	}
	if e.Link != "" {
		out += fmt.Sprintf(" (%s links, %s)", e.Link, e.Client)
	}
	return out
}

// Setting is the environment, the processes and the planned faults in sentences, for reports.
func (r Result) Setting() []string {
	out := each.Of(r.Faults, FaultUse.said)
	if r.Environment != nil {
		out = append(out, r.Environment.said())
		if b := r.Environment.Report; b != nil {
			out = append(out, fmt.Sprintf("simulated boards take %s (p50) and %s (p99) to report, and every command waits for that; fleet.report in a plan changes it", span(b.P50), span(b.P99)))
		}
	}
	return append(out, each.Of(r.Processes, func(p Process) string { return p.said(r.Seconds) })...)
}

// counted is what a process says of itself.
type counted struct {
	Process
	began   float64 // Unix seconds; tells whether two listeners are one process
	boards  int64
	refused int64 // connections to its API that were beyond its limit
}

// countAll reads what the generator and each process of the target have used so far. A listener that doesn't answer is
// left out.
func countAll(ctx context.Context, t Target) []counted {
	own := prometheus.NewRegistry()
	own.MustRegister(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), collectors.NewGoCollector())
	list, _ := own.Gather() // what it can't read is 0
	families := map[string]*dto.MetricFamily{}
	for _, f := range list {
		families[f.GetName()] = f
	}
	all := []counted{countsOf("generator", families)}
	fleets := 0
	for _, base := range t.Control {
		families, err := metricsPage(ctx, t, base)
		if err != nil {
			continue
		}
		name := "server"
		if families["doorlab_boards"] == nil { // only a server counts the boards that it knows
			fleets++
			name = fmt.Sprintf("boards %d", fleets)
		}
		c := countsOf(name, families)
		if c.began == all[0].began {
			if all[0].Name = "generator, server and boards"; name != "server" {
				all[0].Name = "generator and boards"
			}
			all[0].boards, all[0].refused = c.boards, c.refused
			continue
		}
		all = append(all, c)
	}
	return all
}

func metricsPage(ctx context.Context, t Target, base string) (map[string]*dto.MetricFamily, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/metrics", http.NoBody)
	if err != nil {
		return nil, err
	}
	web := client.Trusting(t.TLS)
	if web != nil { // a client of this call alone
		defer web.CloseIdleConnections()
	}
	resp, err := cmp.Or(web, http.DefaultClient).Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	return parser.TextToMetricFamilies(resp.Body)
}

func countsOf(name string, families map[string]*dto.MetricFamily) counted {
	of := func(name string) *dto.Metric {
		if f := families[name]; f != nil && len(f.GetMetric()) > 0 {
			return f.GetMetric()[0]
		}
		return nil
	}
	refused := 0.0
	for _, m := range families["doorlab_listener_refused_total"].GetMetric() {
		for _, l := range m.GetLabel() {
			if l.GetValue() == "public" {
				refused += m.GetCounter().GetValue()
			}
		}
	}
	gc := of("go_gc_duration_seconds").GetSummary()
	return counted{Process: Process{Name: name, CPUSeconds: of("process_cpu_seconds_total").GetCounter().GetValue(),
		MemoryBytes: int64(of("process_resident_memory_bytes").GetGauge().GetValue()), Collections: int64(gc.GetSampleCount()), CollectionMs: gc.GetSampleSum() * 1000},
		began: of("process_start_time_seconds").GetGauge().GetValue(), boards: int64(of("doorlab_boards").GetGauge().GetValue()), refused: int64(refused)}
}

// used adds to a result what was used in the seconds since before, and where.
func (r *runner) used(ctx context.Context, before []counted, seconds float64, res *Result) {
	env := Environment{Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU(), MaxProcs: runtime.GOMAXPROCS(0),
		Link: r.opts.Link, Client: r.opts.Client, Report: r.opts.Report}
	for _, now := range countAll(ctx, r.target) {
		env.Boards = max(env.Boards, now.boards)
		for _, was := range before {
			if was.Name != now.Name || was.began != now.began { // the process was restarted
				continue
			}
			now.Seconds = round(seconds, 3)
			now.CPUSeconds = round(now.CPUSeconds-was.CPUSeconds, 3)
			now.Collections -= was.Collections
			now.CollectionMs = round(now.CollectionMs-was.CollectionMs, 3)
			res.Processes = append(res.Processes, now.Process)
			if n := now.refused - was.refused; n > 0 {
				res.Notes = append(res.Notes, fmt.Sprintf("the server closed %s at once, because its listener's limit was reached (docs/operations.md, Bounds)", amount.Many(int(n), "connection")))
			}
		}
	}
	res.Environment = &env
}
